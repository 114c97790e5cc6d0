#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <openssl/asn1.h>
#include <openssl/posix_time.h>
#include <openssl/x509.h>

#include "tls/internal.h"

enum { PIECE_CAP = 65 };

/* Adds text to a list, with what stands between two of them; false: it did not fit, and the list ends in "...". */
static bool add(char *out, size_t out_cap, const char *text) {
  const size_t used = strlen(out), len = strlen(text);
  const char *const between = used > 0 ? ", " : "";
  const size_t room_for_dots = 5;
  if (used + strlen(between) + len + room_for_dots >= out_cap) {
    if (used + room_for_dots < out_cap) (void)snprintf(out + used, out_cap - used, "%s...", between);
    return false;
  }
  (void)snprintf(out + used, out_cap - used, "%s%s", between, text);
  return true;
}

static bool add_entry(const X509_NAME *name, int index, char *out, size_t out_cap) {
  const X509_NAME_ENTRY *entry = X509_NAME_get_entry(name, index);
  const ASN1_STRING *value = X509_NAME_ENTRY_get_data(entry);
  const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
  char text[PIECE_CAP], piece[PIECE_CAP + 32];
  sst__printable(ASN1_STRING_get0_data(value), (size_t)ASN1_STRING_length(value), text, sizeof text);
  (void)snprintf(piece, sizeof piece, "%.24s=%s", nid == NID_undef ? "?" : OBJ_nid2sn(nid), text);
  return add(out, out_cap, piece);
}

void sst__subject_text(const X509_NAME *name, char *out, size_t out_cap) {
  out[0] = 0;
  const int common_name = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  const int count = X509_NAME_entry_count(name);
  if (common_name >= 0) {
    (void)add_entry(name, common_name, out, out_cap);
  } else if (count <= 0) {
    (void)snprintf(out, out_cap, "no subject");
  }
  for (int i = 0; common_name < 0 && i < count; i++) {
    if (!add_entry(name, i, out, out_cap)) break;
  }
}

/* Writes the name to text; false: it is neither a DNS name nor an address. */
static bool name_text(const GENERAL_NAME *name, char *text, size_t text_cap) {
  if (name->type == GEN_DNS) {
    sst__printable(ASN1_STRING_get0_data(name->d.dNSName), (size_t)ASN1_STRING_length(name->d.dNSName), text, text_cap);
    return true;
  }
  if (name->type != GEN_IPADD) return false;
  const int len = ASN1_STRING_length(name->d.iPAddress);
  if (len != 4 && len != 16) return false;
  return inet_ntop(len == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text,
                   (socklen_t)text_cap) != NULL;
}

void sst__names_text(const X509 *certificate, char *out, size_t out_cap) {
  out[0] = 0;
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  for (size_t i = 0; i < sk_GENERAL_NAME_num(names); i++) {
    char text[PIECE_CAP];
    if (name_text(sk_GENERAL_NAME_value(names, i), text, sizeof text) && !add(out, out_cap, text)) break;
  }
  GENERAL_NAMES_free(names);
  if (out[0] == 0) (void)snprintf(out, out_cap, "it has no names");
}

void sst__time_text(const ASN1_TIME *time, char *out, size_t out_cap) {
  int64_t posix = 0;
  struct tm tm;
  if (!ASN1_TIME_to_posix(time, &posix) || !OPENSSL_posix_to_tm(posix, &tm) ||
      strftime(out, out_cap, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0) {
    (void)snprintf(out, out_cap, "an unreadable time");
  }
}
