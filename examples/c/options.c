#define _GNU_SOURCE /* getopt_long */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <securestream.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char server_help[] =
    "usage: secure-server --cert FILE --key FILE (--echo | --receive PATH | --send FILE) [option ...]\n"
    "\n"
    "Serves many clients at once over TLS 1.2 and 1.3. Prints \"listening on ADDRESS:PORT\" when it is ready.\n"
    "\n"
    "  --echo               give back what comes\n"
    "  --receive PATH       store what comes: in the file PATH, or in one new file for each client in the folder "
    "PATH.\n"
    "                       The file has its name only when the client has said that this was all (close_notify)\n"
    "  --send FILE          give FILE to each client\n"
    "  --cert FILE          certificate chain, leaf first (PEM)\n"
    "  --key FILE           its private key (PEM, not encrypted)\n"
    "  --ca FILE            require a client certificate from these issuers (PEM)\n"
    "  --bind ADDRESS       numeric address to listen on (default 127.0.0.1)\n"
    "  --port N             port to listen on (default 0: a free one)\n"
    "  --alpn NAME          protocol for ALPN; may be repeated, best first\n"
    "  --min-version V      1.2 (default) or 1.3\n"
    "  --max-version V      1.2 or 1.3 (default)\n"
    "  --timeout-ms N       for the whole handshake, and then for silence (default 30000)\n"
    "  --once               serve one connection, then end\n"
    "  --key-log FILE       append the secrets of each connection, for Wireshark: whoever has them reads everything\n"
    "  --verbose            show each flight and each record\n"
    "\n"
    "SIGINT or SIGTERM: no new clients; close_notify to all; end when they have gone, after a second at the latest.\n"
    "A second signal ends at once.\n"
    "\n"
    "Exit code: 0 ended as asked; 1 wrong command line, file or address; with --once 2 if that one connection "
    "failed.\n";

static const char client_help[] =
    "usage: secure-client [option ...] HOST PORT\n"
    "\n"
    "Connects with TLS 1.2 or 1.3, sends standard input, then half-closes; writes what comes back to standard output.\n"
    "\n"
    "  --send FILE          send FILE instead of standard input\n"
    "  --output FILE        write to FILE; it has its name only when the peer has said that this was all "
    "(close_notify)\n"
    "  --ca FILE            trust these issuers (PEM); without it those of the system\n"
    "  --insecure           do not verify the peer: anybody in the middle passes\n"
    "  --server-name NAME   expect this name in the certificate instead of HOST\n"
    "  --cert FILE          client certificate chain, leaf first (PEM)\n"
    "  --key FILE           its private key (PEM, not encrypted)\n"
    "  --alpn NAME          protocol for ALPN; may be repeated, best first\n"
    "  --min-version V      1.2 (default) or 1.3\n"
    "  --max-version V      1.2 or 1.3 (default)\n"
    "  --timeout-ms N       for connecting, for the whole handshake, and then for a silent peer (default 30000)\n"
    "  --key-log FILE       append the secrets of the connection, for Wireshark: whoever has them reads everything\n"
    "  --summary            show on standard error what was negotiated, and the speed\n"
    "  --verbose            --summary, and each flight and each record\n"
    "\n"
    "Exit code\n"
    "  0  all was sent, and all was received up to the peer's close_notify\n"
    "  1  wrong command line, or a local file could not be used\n"
    "  2  no connection\n"
    "  3  we refused the peer's certificate\n"
    "  4  the handshake failed for another reason, or the peer refused us with an alert\n"
    "  5  the connection broke off: what was received is not all, or not all was sent\n"
    "  6  the peer was silent for too long\n";

enum {
  OPTION_CERT = 1,
  OPTION_KEY,
  OPTION_CA,
  OPTION_ALPN,
  OPTION_PORT,
  OPTION_MIN_VERSION,
  OPTION_MAX_VERSION,
  OPTION_TIMEOUT_MS,
  OPTION_KEY_LOG,
  OPTION_VERBOSE,
  OPTION_HELP,
  OPTION_BIND,
  OPTION_ECHO,
  OPTION_RECEIVE,
  OPTION_SEND,
  OPTION_ONCE,
  OPTION_OUTPUT,
  OPTION_INSECURE,
  OPTION_SERVER_NAME,
  OPTION_SUMMARY
};

/* Those of both programs; each refuses what is not its own. */
static const struct option all_options[] = {
    {"cert", required_argument, NULL, OPTION_CERT},
    {"key", required_argument, NULL, OPTION_KEY},
    {"ca", required_argument, NULL, OPTION_CA},
    {"alpn", required_argument, NULL, OPTION_ALPN},
    {"port", required_argument, NULL, OPTION_PORT},
    {"min-version", required_argument, NULL, OPTION_MIN_VERSION},
    {"max-version", required_argument, NULL, OPTION_MAX_VERSION},
    {"timeout-ms", required_argument, NULL, OPTION_TIMEOUT_MS},
    {"key-log", required_argument, NULL, OPTION_KEY_LOG},
    {"verbose", no_argument, NULL, OPTION_VERBOSE},
    {"help", no_argument, NULL, OPTION_HELP},
    {"bind", required_argument, NULL, OPTION_BIND},
    {"echo", no_argument, NULL, OPTION_ECHO},
    {"receive", required_argument, NULL, OPTION_RECEIVE},
    {"send", required_argument, NULL, OPTION_SEND},
    {"once", no_argument, NULL, OPTION_ONCE},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"insecure", no_argument, NULL, OPTION_INSECURE},
    {"server-name", required_argument, NULL, OPTION_SERVER_NAME},
    {"summary", no_argument, NULL, OPTION_SUMMARY},
    {NULL, 0, NULL, 0},
};

static _Noreturn void misused(const char *program, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", program);
  vfprintf(stderr, format, arguments);
  fprintf(stderr, " (--help tells more)\n");
  va_end(arguments);
  exit(1);
}

static uint16_t version_of(const char *program, const char *text) {
  if (strcmp(text, "1.2") == 0) return SST_TLS1_2;
  if (strcmp(text, "1.3") == 0) return SST_TLS1_3;
  misused(program, "'%s' is no version: 1.2 or 1.3", text);
}

static int milliseconds_of(const char *program, const char *text) {
  char *end = NULL;
  errno = 0;
  const long n = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != 0 || n <= 0 || n > INT_MAX) misused(program, "'%s' is no time", text);
  return (int)n;
}

/* An option that both programs have. */
static void take_shared(const char *program, const char *help, int option, options *o) {
  switch (option) {
    case OPTION_CERT:
      o->cert = optarg;
      return;
    case OPTION_KEY:
      o->key = optarg;
      return;
    case OPTION_CA:
      o->ca = optarg;
      return;
    case OPTION_ALPN:
      if (o->num_alpn == OPTIONS_ALPN_MAX) misused(program, "more than %d protocols", OPTIONS_ALPN_MAX);
      o->alpn[o->num_alpn++] = optarg;
      return;
    case OPTION_MIN_VERSION:
      o->min_version = version_of(program, optarg);
      return;
    case OPTION_MAX_VERSION:
      o->max_version = version_of(program, optarg);
      return;
    case OPTION_TIMEOUT_MS:
      o->timeout_ms = milliseconds_of(program, optarg);
      return;
    case OPTION_KEY_LOG:
      o->key_log = optarg;
      return;
    case OPTION_VERBOSE:
      o->verbose = true;
      return;
    case OPTION_HELP:
      fputs(help, stdout);
      exit(0);
    case '?':
      exit(1); /* getopt_long has said what is wrong */
    default:
      misused(program, "an option that this program does not have");
  }
}

static void set_defaults(options *o) {
  *o = (options){.min_version = SST_TLS1_2, .max_version = SST_TLS1_3, .timeout_ms = 30000};
  o->port = "0";
  o->bind = "127.0.0.1";
}

static void set_mode(options *o, server_mode mode, const char *path) {
  if (o->mode != MODE_NONE) misused("secure-server", "one of --echo, --receive and --send");
  o->mode = mode;
  o->path = path;
}

void options_of_server(int argc, char **argv, options *o) {
  set_defaults(o);
  int option;
  while ((option = getopt_long(argc, argv, "", all_options, NULL)) != -1) {
    switch (option) {
      case OPTION_PORT:
        o->port = optarg;
        break;
      case OPTION_BIND:
        o->bind = optarg;
        break;
      case OPTION_ECHO:
        set_mode(o, MODE_ECHO, NULL);
        break;
      case OPTION_RECEIVE:
        set_mode(o, MODE_RECEIVE, optarg);
        break;
      case OPTION_SEND:
        set_mode(o, MODE_SEND, optarg);
        break;
      case OPTION_ONCE:
        o->once = true;
        break;
      default:
        take_shared("secure-server", server_help, option, o);
    }
  }
  if (optind != argc) misused("secure-server", "'%s' is too many", argv[optind]);
  if (o->mode == MODE_NONE) misused("secure-server", "one of --echo, --receive and --send is needed");
  if (!o->cert || !o->key) misused("secure-server", "--cert and --key are needed");
}

void options_of_client(int argc, char **argv, options *o) {
  set_defaults(o);
  int option;
  while ((option = getopt_long(argc, argv, "", all_options, NULL)) != -1) {
    switch (option) {
      case OPTION_SEND:
        o->input = optarg;
        break;
      case OPTION_OUTPUT:
        o->output = optarg;
        break;
      case OPTION_INSECURE:
        o->insecure = true;
        break;
      case OPTION_SERVER_NAME:
        o->server_name = optarg;
        break;
      case OPTION_SUMMARY:
        o->summary = true;
        break;
      default:
        take_shared("secure-client", client_help, option, o);
    }
  }
  if (argc - optind != 2) misused("secure-client", "HOST and PORT are needed");
  if (!o->cert != !o->key) misused("secure-client", "--cert and --key go together");
  if (o->insecure && o->ca) misused("secure-client", "--insecure verifies nothing: --ca has no use");
  o->host = argv[optind];
  o->port = argv[optind + 1];
  if (!o->server_name) o->server_name = o->host;
  o->summary = o->summary || o->verbose;
}
