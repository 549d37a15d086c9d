/**
 * Converts between the 16 bytes of a UUID, the text of the UUID, and the text of its TypeID. The library that validates callers' ids takes
 * twenty times as long, and svc converts several ids for every post.
 */

const bytesOfUuid = 16;
/** Number of characters after the prefix of a TypeID. */
const suffixCharacters = 26;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
/** The two base32 characters for each value of ten bits. */
const pairs = Array.from({ length: 1024 }, (_, bits) => alphabet.charAt(bits >> 5) + alphabet.charAt(bits & 31));
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const valueOfCharacter = codesOf(alphabet);
const valueOfHex = codesOf("0123456789abcdef");

/** Returns the UUID text of 16 bytes. */
export function uuidOfBytes(bytes: Uint8Array): string {
  const hex = (at: number) => hexOfByte[bytes[at] ?? 0] ?? "";
  return (
    `${hex(0)}${hex(1)}${hex(2)}${hex(3)}-${hex(4)}${hex(5)}-${hex(6)}${hex(7)}-${hex(8)}${hex(9)}-` +
    `${hex(10)}${hex(11)}${hex(12)}${hex(13)}${hex(14)}${hex(15)}`
  );
}

/** Returns the TypeID of 16 bytes. The 26 characters have 130 bits; the first two bits are 0. */
export function typeIdOfBytes(prefix: string, bytes: Uint8Array): string {
  return `${prefix}_${pairs[bytes[0] ?? 0]}${ofFiveBytes(bytes, 1)}${ofFiveBytes(bytes, 6)}${ofFiveBytes(bytes, 11)}`;
}

/** Writes the 16 bytes of a valid TypeID into `bytes`, and returns `bytes`. */
export function readTypeId(id: string, bytes: Uint8Array): Uint8Array {
  const from = id.length - suffixCharacters;
  let bits = 0;
  let held = 0;
  // The first two characters carry eight bits, because the first two bits are 0.
  bytes[0] = ((valueOfCharacter[id.charCodeAt(from)] ?? 0) << 5) | (valueOfCharacter[id.charCodeAt(from + 1)] ?? 0);
  for (let at = from + 2, byte = 1; byte < bytesOfUuid; at++) {
    bits = ((bits << 5) | (valueOfCharacter[id.charCodeAt(at)] ?? 0)) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    bytes[byte++] = bits >> held;
  }
  return bytes;
}

/** Writes the 16 bytes of a UUID's text into `bytes`, and returns `bytes`. */
export function readUuid(uuid: string, bytes: Uint8Array): Uint8Array {
  for (let at = 0, byte = 0; byte < bytesOfUuid; at += 2) {
    if (uuid.charCodeAt(at) === hyphen) at++;
    const high = valueOfHex[uuid.charCodeAt(at) | lowerCase] ?? 0;
    bytes[byte++] = (high << 4) | (valueOfHex[uuid.charCodeAt(at + 1) | lowerCase] ?? 0);
  }
  return bytes;
}

const hyphen = 45;
/** The bit that makes a letter's code lower case. Codes of digits also have this bit. */
const lowerCase = 32;

function ofFiveBytes(bytes: Uint8Array, at: number): string {
  const [a, b, c, d, e] = [
    bytes[at] ?? 0,
    bytes[at + 1] ?? 0,
    bytes[at + 2] ?? 0,
    bytes[at + 3] ?? 0,
    bytes[at + 4] ?? 0,
  ];
  return `${pairs[(a << 2) | (b >> 6)]}${pairs[((b & 63) << 4) | (c >> 4)]}${pairs[((c & 15) << 6) | (d >> 2)]}${pairs[((d & 3) << 8) | e]}`;
}

function codesOf(characters: string): Uint8Array {
  const codes = new Uint8Array(128);
  for (const [value, character] of [...characters].entries()) codes[character.charCodeAt(0)] = value;
  return codes;
}
