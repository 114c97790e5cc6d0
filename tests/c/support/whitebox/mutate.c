#include "mutate.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { MOST_ELEMENTS = 600, MOST_LEVELS = 30 };

static Data copy(const uint8_t *bytes, size_t len) {
  const Data data = {test_allocate(len), len};
  if (len > 0) memcpy(data.bytes, bytes, len);
  return data;
}

static void replace(Data *data, Data by) {
  free(data->bytes);
  *data = by;
}

/* A copy in which cut bytes at offset at are replaced. */
static Data spliced(const Data *from, size_t at, size_t cut, const uint8_t *put, size_t put_len) {
  const Data data = {test_allocate(from->len - cut + put_len), from->len - cut + put_len};
  if (at > 0) memcpy(data.bytes, from->bytes, at);
  if (put_len > 0) memcpy(data.bytes + at, put, put_len);
  if (from->len > at + cut) memcpy(data.bytes + at + put_len, from->bytes + at + cut, from->len - at - cut);
  return data;
}

static size_t below(size_t limit) {
  return test_random_below((uint32_t)limit);
}

/* ---- any bytes ---- */

static void change_bytes(Data *data) {
  const size_t at = below(data->len), rest = data->len - at;
  const size_t piece = 1 + below(rest < 40 ? rest : 40);
  uint8_t put[8];
  switch (test_random_below(8)) {
    case 0:
    case 1:
      data->bytes[at] ^= (uint8_t)(1u << test_random_below(8));
      break;
    case 2:
      data->bytes[at] = (uint8_t)test_random();
      break;
    case 3:
      replace(data, copy(data->bytes, at));
      break;
    case 4:
      replace(data, spliced(data, at, piece, NULL, 0));
      break;
    case 5:
      for (size_t i = 0; i < sizeof put; i++)
        put[i] = (uint8_t)test_random();
      replace(data, spliced(data, at, 0, put, 1 + below(sizeof put)));
      break;
    case 6: {
      const Data doubled = copy(data->bytes + at, piece);
      replace(data, spliced(data, below(data->len), 0, doubled.bytes, doubled.len));
      free(doubled.bytes);
      break;
    }
    default: {
      const size_t other = below(data->len - piece + 1);
      for (size_t i = 0; i < piece; i++) {
        const uint8_t kept = data->bytes[at + i];
        data->bytes[at + i] = data->bytes[other + i];
        data->bytes[other + i] = kept;
      }
      break;
    }
  }
}

Data mutate_bytes(const uint8_t *bytes, size_t len) {
  Data data = copy(bytes, len);
  for (size_t changes = 1 + below(5) / 3; changes > 0 && data.len > 0; changes--)
    change_bytes(&data);
  return data;
}

/* ---- DER ---- */

typedef struct Element {
  size_t at, header, len; /* len: of the contents */
} Element;

typedef struct Tree {
  Element list[MOST_ELEMENTS];
  size_t count;
} Tree;

static bool read_element(const Data *der, size_t at, size_t end, Element *element) {
  if (end - at < 2) return false;
  size_t header = 2, len = der->bytes[at + 1];
  if (len > 0x80) {
    const size_t octets = len - 0x80;
    if (octets > 4 || end - at < 2 + octets) return false;
    for (len = 0; header < 2 + octets; header++)
      len = len << 8 | der->bytes[at + header];
  } else if (len == 0x80) {
    return false;
  }
  *element = (Element){at, header, len};
  return len <= end - at - header;
}

/* What stands in an element may be elements: of a constructed one, and of strings that are wrapped around others. */
static void read_tree(const Data *der, size_t at, size_t end, unsigned level, Tree *tree) {
  Element element;
  while (at < end && tree->count < MOST_ELEMENTS && read_element(der, at, end, &element)) {
    const uint8_t tag = der->bytes[at];
    const size_t inside = at + element.header;
    tree->list[tree->count++] = element;
    at = inside + element.len;
    if (level == MOST_LEVELS || element.len < 2) continue;
    const size_t unused_bits = tag == 3 && der->bytes[inside] == 0 ? 1 : 0;
    const bool wrapped = (tag == 3 || tag == 4) && der->bytes[inside + unused_bits] == 0x30;
    if ((tag & 0x20) != 0 || wrapped) read_tree(der, inside + unused_bits, at, level + 1, tree);
  }
}

static size_t put_length(uint8_t out[5], size_t len) {
  size_t octets = 0;
  for (size_t rest = len; rest > 0 && len > 0x7f; rest >>= 8)
    octets++;
  out[0] = (uint8_t)(octets == 0 ? len : 0x80 | octets);
  for (size_t i = 0; i < octets; i++)
    out[1 + i] = (uint8_t)(len >> (8 * (octets - 1 - i)));
  return 1 + octets;
}

/* Elements stand in the order of their offsets, and who is around another stands before it: from behind, inner ones
   are mended before outer ones, which then know how much longer they became. */
static Data splice_in(const Tree *tree, const Data *der, size_t at, size_t cut, const uint8_t *put, size_t put_len) {
  Data data = spliced(der, at, cut, put, put_len);
  for (size_t i = tree->count; i > 0; i--) {
    const Element *around = &tree->list[i - 1];
    if (around->at >= at || around->at + around->header > at) continue;
    if (around->at + around->header + around->len < at + cut) continue;
    uint8_t length[5];
    const size_t grown = around->len + data.len - der->len;
    replace(&data, spliced(&data, around->at + 1, around->header - 1, length, put_length(length, grown)));
  }
  return data;
}

Data mutate_splice(const uint8_t *der, size_t len, size_t at, size_t cut, const uint8_t *put, size_t put_len) {
  static Tree tree;
  const Data all = {(uint8_t *)der, len};
  tree.count = 0;
  read_tree(&all, 0, len, 0, &tree);
  return splice_in(&tree, &all, at, cut, put, put_len);
}

static void change_header(Data *der, const Element *element) {
  static const uint8_t lengths[][9] = {{0x80},
                                       {0xff},
                                       {0x84, 0xff, 0xff, 0xff, 0xff},
                                       {0x84, 0x7f, 0xff, 0xff, 0xff},
                                       {0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
                                       {0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xf0},
                                       {0x81, 0x01},
                                       {0x82, 0x00, 0x01}};
  const uint8_t *length = lengths[below(sizeof lengths / sizeof lengths[0])];
  uint8_t *const bytes = der->bytes + element->at;
  switch (test_random_below(4)) {
    case 0:
      bytes[0] = (uint8_t)test_random();
      break;
    case 1:
      bytes[0] ^= (uint8_t)(0x20u << test_random_below(3));
      break;
    case 2:
      bytes[element->header - 1] += (uint8_t)(test_random_below(2) == 0 ? 1 : 255);
      break;
    default:
      replace(der, spliced(der, element->at + 1, element->header - 1, length,
                           length[0] > 0x80 && length[0] < 0xff ? 1 + (length[0] & 0x7fu) : 1));
      break;
  }
}

/* The whole element is replaced by bytes with a header of their own. */
static void put_instead(Data *der, const Tree *tree, const Element *element) {
  /* Each behind its length. */
  static const uint8_t odd[][14] = {
      {3, 2, 1, 0xff},       /* -1 */
      {4, 2, 2, 0x00, 0x01}, /* not minimal */
      {3, 2, 1, 0x80},
      {11, 2, 9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
      {11, 2, 9, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
      {2, 2, 0},
      {2, 5, 0},
      {2, 0x30, 0},
      {2, 6, 0},
      {3, 6, 1, 0x80},                         /* an OID that does not end */
      {8, 0x24, 6, 4, 1, 1, 4, 1, 2},          /* a string in two pieces */
      {6, 0x30, 0x80, 5, 0, 0, 0},             /* of indefinite length */
      {3, 1, 1, 0x01},                         /* TRUE is 0xff in DER */
      {8, 6, 6, 0x2a, 0x86, 0x48, 0x86, 0xf7}, /* cut off */
  };
  const uint8_t *chosen = odd[below(sizeof odd / sizeof odd[0])];
  replace(der, splice_in(tree, der, element->at, element->header + element->len, chosen + 1, chosen[0]));
}

static void change_tree(Data *der, const Tree *tree) {
  const Element *one = &tree->list[below(tree->count)], *other = &tree->list[below(tree->count)];
  const size_t whole = one->header + one->len;
  switch (test_random_below(8)) {
    case 0:
      change_header(der, one);
      break;
    case 1:
      if (one->len > 0) der->bytes[one->at + one->header + below(one->len)] = (uint8_t)test_random();
      break;
    case 2:
      replace(der, splice_in(tree, der, one->at, whole, NULL, 0));
      break;
    case 3:
    case 4: { /* the other one before it, or in its place */
      const Data element = copy(der->bytes + other->at, other->header + other->len);
      replace(der, splice_in(tree, der, one->at, test_random_below(2) == 0 ? 0 : whole, element.bytes, element.len));
      free(element.bytes);
      break;
    }
    case 5:
      put_instead(der, tree, one);
      break;
    case 6: { /* cut short, or made longer by zeros */
      static const uint8_t zeros[300];
      const size_t cut = below(one->len + 1);
      replace(der, test_random_below(2) == 0 ? splice_in(tree, der, one->at + one->header, cut, NULL, 0)
                                             : splice_in(tree, der, one->at + whole, 0, zeros, below(sizeof zeros)));
      break;
    }
    default: {
      uint8_t *wrapped = test_allocate(whole + 6);
      wrapped[0] = test_random_below(2) == 0 ? 0x30 : 0xa0;
      const size_t header = 1 + put_length(wrapped + 1, whole);
      memcpy(wrapped + header, der->bytes + one->at, whole);
      replace(der, splice_in(tree, der, one->at, whole, wrapped, header + whole));
      free(wrapped);
      break;
    }
  }
}

Data mutate_der(const uint8_t *der, size_t len) {
  static Tree tree;
  Data data = copy(der, len);
  for (size_t changes = 1 + below(5) / 3; changes > 0; changes--) {
    tree.count = 0;
    read_tree(&data, 0, data.len, 0, &tree);
    if (tree.count == 0) break;
    change_tree(&data, &tree);
  }
  return data;
}
