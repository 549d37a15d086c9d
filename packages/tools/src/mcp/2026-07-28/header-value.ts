import { readForeignText } from "@svc/core";

/** What a header holds that repeats a name: as it is, or in Base64 where it has other than plain characters. Undefined when it is neither. */
export function nameInHeader(header: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
  if (encoded === undefined) return /^[\t\x20-\x7e]*$/.test(header) ? header : undefined;
  const bytes = Buffer.from(encoded, "base64");
  // Buffer skips what is no Base64.
  const read = readForeignText(bytes);
  return bytes.toString("base64") === encoded && "text" in read ? read.text : undefined;
}
