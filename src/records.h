/* Many records per call: sealing what the caller gives, opening what the transport brought. The state is stream.c's
   matter. */
#ifndef SST_RECORDS_H
#define SST_RECORDS_H

#include "stream.h"

/* Seals slices into out. DONE: all; ROOM: progress->needed is set; CLOSED: the stream has failed meanwhile; FAILED.
   progress->consumed grows. */
sst__step sst__seal_records(sst_stream *stream, const sst_slice *slices, size_t num_slices, sst__output *out,
                            sst_progress *progress, sst_error *error);

/* Gives out kept plaintext; true: none is kept any more. */
bool sst__give_kept(sst__kept *kept, sst__room out, sst_progress *progress);
void sst__kept_free(sst__kept *kept);

/* Opens records of in into out, behind progress->produced. Nothing is kept before. MORE and ROOM set progress->needed;
   CLOSED, FAILED. With leave_partial a record that is not whole stays in in. */
sst__step sst__open_records(sst_stream *stream, sst__input *in, sst__room out, bool leave_partial,
                            sst_progress *progress, sst_error *error);
/* The same inside the caller's receive buffer. begun: nothing was done, since a part of the record was taken in before. */
sst__step sst__open_in_place(sst_stream *stream, const sst__in_place *place, sst_progress *progress, bool *begun,
                             sst_error *error);

#endif
