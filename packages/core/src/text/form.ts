import { Buffer } from "node:buffer";
import { isRawJson, scalarText } from "../json/raw-json.ts";
import { createSlices } from "../work/turns.ts";
import { asciiForm, type ForeignText } from "./foreign-text.ts";

/**
 * Fields of a form: for each name its values, in the order of the form. If the form cannot be read, `fault` is the reason, written as the
 * end of a sentence.
 */
type Form = { readonly fields: ReadonlyMap<string, readonly string[]> } | { readonly fault: string };

/** Limits of reading a form. `fieldsMax`: maximum number of fields. `turn`: awaited after every 4 ms, so that other work can run. */
type FormReading = { readonly fieldsMax: number; readonly turn: () => Promise<void> };

/** Number of bytes and number of fields after which the reading time is checked. */
const [stepBytes, stepFields] = [16_384, 64];

const [percent, plus, space, ampersand, equals] = [37, 43, 32, 38, 61];

/**
 * Reads a form (`application/x-www-form-urlencoded`). Each escape (`%` and two hexadecimal digits) is one byte in the charset of the
 * content type. If the content type has no charset, or names UTF-16 or UTF-32, the escapes are bytes in UTF-8. A percent sign without two
 * hexadecimal digits stays a percent sign. Invalid bytes are never replaced.
 */
export async function readFormInTurns(
  bytes: Buffer,
  contentType: string | undefined,
  { fieldsMax, turn }: FormReading,
): Promise<Form> {
  const form = asciiForm(bytes, contentType);
  if ("fault" in form) return form;
  const reader = new Reader(form.bytes, form.read);
  const { rest } = createSlices(turn);
  while (reader.fault === "") {
    const isAtEnd = reader.step();
    if (reader.count > fieldsMax) return { fault: `has more than ${fieldsMax} fields` };
    if (isAtEnd) return { fields: reader.fields };
    const pause = rest();
    if (pause !== undefined) await pause;
  }
  return { fault: reader.fault };
}

/**
 * Reads a form from start to end, in steps. A field without an equals sign has an empty value. Separators with nothing between them make no
 * field.
 */
class Reader {
  readonly fields = new Map<string, string[]>();
  /** Number of fields of the form that have been read so far. */
  count = 0;
  /** Reason why a field cannot be read, written as the end of a sentence. Empty if all fields could be read so far. */
  fault = "";
  readonly #bytes: Buffer;
  readonly #read: (field: Buffer) => ForeignText;
  /** Bytes of the field that is being read, with its escapes replaced. */
  readonly #field: Buffer;
  #length = 0;
  /** Length in bytes of the name of the form field that is being read. -1 until the equals sign is read. */
  #nameLength = -1;
  #start = 0;
  #at = 0;

  constructor(bytes: Buffer, read: (field: Buffer) => ForeignText) {
    this.#bytes = bytes;
    this.#read = read;
    this.#field = Buffer.allocUnsafe(bytes.byteLength);
  }

  /** Reads the next part of the HTTP form, up to 16 KiB or 64 fields. Returns true at the end of the form. */
  step(): boolean {
    const [bytes, field, end] = [this.#bytes, this.#field, Math.min(this.#at + stepBytes, this.#bytes.byteLength)];
    const countEnd = this.count + stepFields;
    for (; this.#at < end && this.count < countEnd; this.#at++) {
      const byte = bytes[this.#at] ?? 0;
      if (byte === ampersand) {
        this.#endField();
        if (this.fault !== "") return false;
      } else if (byte === equals && this.#nameLength < 0) this.#nameLength = this.#length;
      else field[this.#length++] = byte === percent ? this.#escaped() : byte === plus ? space : byte;
    }
    // The position may be after the end of this step, because the last escape may be longer than the step.
    if (this.#at < bytes.byteLength) return false;
    this.#endField();
    return this.fault === "";
  }

  /**
   * Returns the byte that an escape (a percent sign with two digits) means, and moves to its last digit. If two digits do not follow,
   * returns the percent sign.
   */
  #escaped(): number {
    const [high, low] = [digitOf(this.#bytes[this.#at + 1]), digitOf(this.#bytes[this.#at + 2])];
    if (high < 0 || low < 0) return percent;
    this.#at += 2;
    return high * 16 + low;
  }

  #endField(): void {
    if (this.#at > this.#start) this.#add();
    this.#start = this.#at + 1;
    this.#length = 0;
    this.#nameLength = -1;
  }

  #add(): void {
    this.count++;
    const split = this.#nameLength < 0 ? this.#length : this.#nameLength;
    const name = this.#read(this.#field.subarray(0, split));
    const value = this.#read(this.#field.subarray(split, this.#length));
    if ("fault" in name) this.fault = name.fault;
    else if ("fault" in value) this.fault = value.fault;
    else {
      const values = this.fields.get(name.text);
      if (values === undefined) this.fields.set(name.text, [value.text]);
      else values.push(value.text);
    }
  }
}

/** Returns the value of a hexadecimal digit, given as its character's code; -1 for any other character. */
function digitOf(code = 0): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/**
 * Yields the fields of a form that carry a JSON value. `name`: name of the whole value. Members of objects and items of lists are written
 * as `name[member]` and `name[0]`. null is an empty text. Empty objects and lists have no field.
 */
export function* formFieldsOf(name: string, value: unknown): Generator<readonly [name: string, value: string]> {
  if (value === null) yield [name, ""];
  else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* formFieldsOf(`${name}[${index}]`, item);
  } else if (typeof value === "object" && !isRawJson(value)) {
    for (const [member, child] of Object.entries(value)) yield* formFieldsOf(`${name}[${member}]`, child);
  } else if (value !== undefined) yield [name, scalarText(value) ?? ""];
}
