import fc from "fast-check";
import { expect, test } from "vitest";
import { displayText, isReadableForm, readForeignText, requireText } from "./foreign-text.ts";

const bytes = (...values: number[]) => Uint8Array.from(values);

test.each([
  undefined,
  "",
  "application/json",
  "application/json; charset=utf-8",
  'text/plain;foo="; charset=latin1";CHARSET="UTF8"',
  "application/json; charset='utf-8'",
  "application/json; charset=",
  "application/json; charset=utf-8; charset=UTF-8",
])(
  "property: text as UTF-8 under %j is the text, with and without a byte order mark; other bytes are a fault",
  (type) => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!text.startsWith("\ufeff"));
        expect(readForeignText(Buffer.from(text), type)).toEqual({ text });
        expect(readForeignText(Buffer.from(`\ufeff${text}`), type)).toEqual({ text });
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array(), (any) => {
        const read = readForeignText(any, type);
        // If the bytes have no byte order mark, the text has exactly these bytes in UTF-8.
        if ("text" in read && ![0xef, 0xfe, 0xff].includes(any[0] ?? 0))
          expect(Buffer.from(read.text)).toEqual(Buffer.from(any));
      }),
    );
  },
);

test.each<[string, Uint8Array, string]>([
  ["iso-8859-1", bytes(0x63, 0xe9), "cé"],
  ["ISO_8859-15", bytes(0xa4), "€"],
  ["windows-1251", bytes(0xcf), "П"],
  ["shift_jis", bytes(0x83, 0x65), "テ"],
  ["gb18030", bytes(0xc4, 0xe3), "你"],
  ["utf-16le", bytes(0x41, 0, 0x3d, 0xd8, 0, 0xde), "A😀"],
  ["utf-16", bytes(0, 0x41), "A"],
  ["utf-16", bytes(0x41, 0), "A"],
  ["utf-16", bytes(0xfe, 0xff, 0, 0x41), "A"],
  ["ucs-2", bytes(0x41, 0), "A"],
  ["utf-32", bytes(0, 0, 0, 0x41), "A"],
  ["utf-32be", bytes(0, 1, 0xf6, 0), "😀"],
  ["cp437", bytes(0x82), "é"],
  ["us-ascii", bytes(0x41), "A"],
])("a declared charset (%s) is read", (charset, given, text) => {
  expect(readForeignText(given, `text/plain; charset=${charset}`)).toEqual({ text });
});

test("a byte order mark decides over what is declared", () => {
  expect(readForeignText(bytes(0xff, 0xfe, 0x41, 0), "text/plain; charset=utf-8")).toEqual({ text: "A" });
  expect(readForeignText(bytes(0xff, 0xfe, 0, 0, 0x41, 0, 0, 0))).toEqual({ text: "A" });
  expect(readForeignText(bytes(0, 0, 0xfe, 0xff, 0, 0, 0, 0x41))).toEqual({ text: "A" });
  expect(readForeignText(bytes(0xef, 0xbb, 0xbf, 0x41), "text/plain; charset=latin1")).toEqual({ text: "A" });
});

test.each<[string, Uint8Array]>([
  ["utf-8", bytes(0xe9)],
  ["utf-8", bytes(0xc0, 0x80)],
  ["utf-8", bytes(0xed, 0xa0, 0x80)],
  ["utf-8", bytes(0xf4, 0x90, 0x80, 0x80)],
  ["us-ascii", bytes(0xc3, 0xa9)],
  ["shift_jis", bytes(0x83)],
  ["euc-kr", bytes(0xa1)],
  ["utf-16le", bytes(0x41)],
  ["utf-16le", bytes(0, 0xd8)],
  ["utf-16", bytes(0x41, 0x42)],
  ["utf-16", bytes(0x41)],
  ["utf-32le", bytes(0, 0, 0x11, 0)],
  ["utf-32le", bytes(0x41, 0)],
  ["iso-8859-7", bytes(0xd2)],
  ["iso-2022-kr", bytes(0x41)],
  ["utf-7", bytes(0x41)],
  ["base64", bytes(0x41)],
  ["hex", bytes(0x41)],
  ["binary", bytes(0x41)],
  ["x".repeat(500), bytes(0x41)],
])("bytes that are not text of %s are a fault, as is a charset that is not read", (charset, given) => {
  expect(readForeignText(given, `text/plain; charset=${charset}`)).toEqual({ fault: expect.any(String) });
});

test("what is shown of bytes that are not text says so; a character that was cut is left out", () => {
  expect(displayText(Buffer.from("é"))).toEqual({ text: "é", isLossy: false });
  expect(displayText(bytes(0x41, 0xe9))).toEqual({ text: "A\ufffd", isLossy: true });
  expect(displayText(bytes(0x41, 0xe9), { contentType: "text/plain; charset=latin1" }).text).toBe("Aé");
  for (const cut of [1, 2, 3]) {
    const sent = Buffer.from("A😀").subarray(0, 1 + cut);
    expect(displayText(sent, { isCut: true })).toEqual({ text: "A", isLossy: false });
    expect(displayText(sent).isLossy).toBe(true);
  }
});

test("a file that is not text is an error with the system's code", () => {
  expect(requireText(Buffer.from("\ufeffa: ü"))).toBe("a: ü");
  expect(() => requireText(bytes(0xe9))).toThrow(expect.objectContaining({ code: "EILSEQ" }));
});

test("a form is readable if its percent-encoded bytes are characters", () => {
  for (const form of ["", "a=b+c", "a=%C3%A9", "a=100%", "a=%zz&b=%2", "%e2%82%ac=1"])
    expect(isReadableForm(form)).toBe(true);
  for (const form of ["a=%E9", "a=%C3x", "%C3=%A9", "a=%ED%A0%80", "a=%ff"]) expect(isReadableForm(form)).toBe(false);
});
