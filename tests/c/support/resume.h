/*
 * resume.h - two connections, the second with the session of the first.
 *
 *     Resume resume = resume_new(version, .server = {.client_certificate = ...}, .client = {.credential = ...});
 *     sst_session *session = resume_session(&resume);
 *     EXPECT(resume_with(&resume, session));
 *     sst_session_free(session);
 *     resume_free(&resume);
 */
#ifndef SST_RESUME_H
#define SST_RESUME_H

#include "pair.h"

#define SESSIONS (1u << SST_EVENT_SESSION)

/* Configs of both sides, for any number of connections. */
typedef struct Resume {
  PairOptions options; /* may be changed between connections */
} Resume;

/* The client reports sessions; the server sends the library's number of tickets, if no other is given. */
#define resume_new(version, ...) resume_make((version), &(PairOptions){.first = 0, __VA_ARGS__})
Resume resume_make(uint16_t version, const PairOptions *options);
void resume_free(Resume *resume);

/* Replaces one side's config by another, which it keeps. */
void resume_set_config(SideOptions *side, sst_config *config);

/* Lets the server's tickets arrive. */
void resume_deliver(Pair *pair);

/* A full handshake, and the session that comes of it; NULL if none comes. */
sst_session *resume_session(Resume *resume);

/* A connection that offers session (or none), and works whether it resumes or not; true: both sides say that it was
   resumed. */
bool resume_with(Resume *resume, sst_session *session);
bool resumed(const Pair *pair);

/* The session as bytes, and one made of bytes. */
Data session_bytes(const sst_session *session);
sst_session *session_loaded(const void *bytes, size_t len);

#endif
