/*
 * securestream.i: the SWIG interface of the public header, for every language, without a condition on one.
 *
 * It does two things: gives each kind of argument list of the header a tag, and includes the header. A binding defines
 * typemaps for the tags first, then includes this file:
 *
 *   (const uint8_t *BYTES, size_t BYTES_LEN)                          input bytes
 *   (const uint8_t *MAYBE, size_t MAYBE_LEN)                          input bytes, or none, which is NULL and not the same
 *   (const char *TEXT, size_t TEXT_LEN)                               input text, UTF-8
 *   (const uint16_t *NUMBERS, size_t NUM_NUMBERS)                     an input list of numbers
 *   (const sst_slice *SLICES, size_t NUM_SLICES)                      an input list of pieces
 *   (uint8_t *GET, size_t GET_CAP, size_t *GET_LEN)                   a getter of variable size, in bytes
 *   (uint16_t *GET_NUMBERS, size_t GET_CAP, size_t *GET_LEN)          a getter of variable size, in numbers
 *   (uint8_t *ROOM, size_t ROOM_CAP)                                  room for output
 *   (uint8_t *BUFFER, size_t BUFFER_LEN)                              bytes that are changed in place
 *   (sst_range *RANGES, size_t NUM_RANGES, size_t *RANGES_USED)       a list that is filled
 *   sst_progress *PROGRESS                                            what a call did
 *   sst_stream **NEW_STREAM                                           a stream that is made
 *   sst_error *, sst_event *, sst_stream_info *, sst_session_info *, sst_negotiate_info *    structs that are filled, by type
 *
 * A list that no tag covers would come out as a raw pointer and a number; script/check_bindings fails on one.
 */
%apply (const uint8_t *BYTES, size_t BYTES_LEN) {
  (const uint8_t *pem, size_t pem_len), (const uint8_t *der, size_t der_len), (const uint8_t *key, size_t key_len),
  (const uint8_t *pfx, size_t pfx_len), (const uint8_t *response, size_t response_len),
  (const uint8_t *scts, size_t scts_len), (const uint8_t *crl, size_t crl_len), (const uint8_t *ring, size_t ring_len),
  (const uint8_t *protocol, size_t protocol_len), (const uint8_t *ca, size_t ca_len),
  (const uint8_t *keys, size_t keys_len), (const uint8_t *list, size_t list_len), (const uint8_t *in, size_t in_len),
  (const uint8_t *head, size_t head_len), (const uint8_t *body, size_t body_len),
  (const uint8_t *signature, size_t signature_len),
  (const uint8_t *plaintext, size_t plaintext_len), (const uint8_t *bytes, size_t bytes_len),
  (const uint8_t *binding, size_t binding_len)
};
%apply (const uint8_t *MAYBE, size_t MAYBE_LEN) { (const uint8_t *context, size_t context_len) };
%apply (const char *TEXT, size_t TEXT_LEN) {
  (const char *password, size_t password_len), (const char *name, size_t name_len), (const char *path, size_t path_len),
  (const char *user, size_t user_len), (const char *label, size_t label_len)
};
%apply (const uint16_t *NUMBERS, size_t NUM_NUMBERS) {
  (const uint16_t *groups, size_t num_groups), (const uint16_t *suites, size_t num_suites),
  (const uint16_t *schemes, size_t num_schemes)
};
%apply (const sst_slice *SLICES, size_t NUM_SLICES) { (const sst_slice *slices, size_t num_slices) };
%apply (uint8_t *ROOM, size_t ROOM_CAP) { (uint8_t *out, size_t out_cap) };
%apply (uint8_t *GET, size_t GET_CAP, size_t *GET_LEN) { (uint8_t *out, size_t out_cap, size_t *out_len) };
%apply (uint16_t *GET_NUMBERS, size_t GET_CAP, size_t *GET_LEN) { (uint16_t *out, size_t out_cap, size_t *out_len) };
%apply (uint8_t *BUFFER, size_t BUFFER_LEN) { (uint8_t *buf, size_t buf_len) };
%apply (sst_range *RANGES, size_t NUM_RANGES, size_t *RANGES_USED) {
  (sst_range *ranges, size_t num_ranges, size_t *ranges_used)
};
%apply sst_progress *PROGRESS { sst_progress *progress };
%apply sst_stream **NEW_STREAM { sst_stream **stream };

%include "securestream.h"
