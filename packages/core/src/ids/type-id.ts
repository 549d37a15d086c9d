/**
 * Number of bytes of a UUID. The functions of this file convert between these bytes, the text of the UUID, and the text of its TypeID (such
 * as `evt_01h4…`). svc has its own functions, because it converts several ids for every webhook post, and the usual library takes twenty
 * times as long.
 */

const bytesOfUuid = 16;
/** Number of characters after the prefix of a TypeID. */
const suffixCharacters = 26;

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const characters = Buffer.from(alphabet);
const hexDigits = Buffer.from("0123456789abcdef");
const valueOfCharacter = codesOf(alphabet);
const valueOfHex = codesOf("0123456789abcdef");

const uuidText = Buffer.alloc(36, "-");
/** Memory for the text of one TypeID. A prefix has at most four characters, so 32 bytes are enough. */
const typeIdText = Buffer.alloc(32);

/**
 * Returns the UUID text of 16 bytes. It writes the characters into one shared buffer. Joining twenty short texts instead would need memory
 * for each of them.
 */
export function uuidOfBytes(bytes: Uint8Array): string {
  for (let at = 0, to = 0; at < bytesOfUuid; at++) {
    const byte = bytes[at] ?? 0;
    uuidText[to++] = hexDigits[byte >> 4] ?? 0;
    uuidText[to++] = hexDigits[byte & 15] ?? 0;
    if (at === 3 || at === 5 || at === 7 || at === 9) to++;
  }
  return uuidText.toString("latin1");
}

/** Returns the TypeID of 16 bytes. The 26 characters have 130 bits; the first two bits are 0. */
export function typeIdOfBytes(prefix: string, bytes: Uint8Array): string {
  let to = typeIdText.write(`${prefix}_`, "latin1");
  for (let at = 0, bits = 0, held = 2; at < bytesOfUuid; at++) {
    bits = ((bits << 8) | (bytes[at] ?? 0)) & 0xfff;
    held += 8;
    while (held >= 5) {
      held -= 5;
      typeIdText[to++] = characters[(bits >> held) & 31] ?? 0;
    }
  }
  return typeIdText.toString("latin1", 0, to);
}

/** Writes the 16 bytes of a TypeID into `bytes`, and returns `bytes`. The TypeID must be valid; it is not checked. */
export function readTypeId(id: string, bytes: Uint8Array): Uint8Array {
  const from = id.length - suffixCharacters;
  let bits = 0;
  let held = 0;
  // The first two characters contain eight bits of the id and not ten, because the first two of these bits are always 0.
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
/**
 * The bit by which the code of a lower-case letter differs from that of its upper-case letter. Setting it makes hexadecimal digits lower
 * case. The codes of the digits 0 to 9 already have this bit, so they stay the same.
 */
const lowerCase = 32;

function codesOf(characters: string): Uint8Array {
  const codes = new Uint8Array(128);
  for (const [value, character] of [...characters].entries()) codes[character.charCodeAt(0)] = value;
  return codes;
}
