import { hash } from "node:crypto";
import type { CelValue } from "@bufbuild/cel";
import { stepsOf } from "../run/cost-of-text.ts";
import { type Extent, scalar } from "../run/extent.ts";
import { type CelFunction, textExtent, textOf } from "./function.ts";

/** Returns the bytes of a value; a text is encoded as UTF-8. Throws if the value is neither bytes nor text. */
function bytesOf(value: CelValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return value;
  return Buffer.from(textOf(value), "utf8");
}

const perByte = ([given = scalar]: readonly Extent[]) => stepsOf.digest + given.text * 3 * stepsOf.made;

function digest(name: "sha256" | "md5", characters: number): CelFunction {
  return {
    name,
    isMethod: false,
    count: 1,
    signatures: [{ takes: [["string", "bytes"]], gives: "string" }],
    steps: perByte,
    extent: () => textExtent(characters),
    run: ([value]) => hash(name, bytesOf(value), "hex"),
  };
}

/**
 * Functions that svc adds to CEL: base64, as in CEL's extension library `encoders`, and SHA-256 and MD5 digests in lower-case hexadecimal.
 */
export const digestFunctions: readonly CelFunction[] = [
  {
    name: "base64.encode",
    isMethod: false,
    count: 1,
    signatures: [{ takes: [["bytes", "string"]], gives: "string" }],
    steps: perByte,
    extent: ([given = scalar]) => textExtent(4 * given.text + 4),
    run: ([value]) => Buffer.from(bytesOf(value)).toString("base64"),
  },
  {
    name: "base64.decode",
    isMethod: false,
    count: 1,
    signatures: [{ takes: [["string"]], gives: "bytes" }],
    steps: perByte,
    extent: ([given = scalar]) => textExtent(given.text),
    run([value]) {
      const text = textOf(value);
      const bytes = Buffer.from(text, "base64");
      const exact = bytes.toString("base64");
      // The padding of base64 may be missing. A text with any other difference is not base64, or has bits that are not zero after the last
      // byte.
      if (text !== exact && text !== exact.replace(/=+$/, "")) throw new Error("cannot convert to bytes");
      return new Uint8Array(bytes);
    },
  },
  digest("sha256", 64),
  digest("md5", 32),
];
