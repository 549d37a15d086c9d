/** Maximum number of bytes of a body that are shown as hexadecimal bytes, sixteen per line. */
export const hexBytesMax = 16_384;
const lineBytes = 16;

/** Returns the body of a webhook post as text. Returns undefined if the body is not valid UTF-8. */
export function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}

/** True if a text is JSON. The page then shows it in a viewer in which the user can fold and search it. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the bytes of a body as text. Each line has the offset, sixteen bytes, and the readable characters. Only the first 16 KiB are
 * included.
 */
export function hexOf(body: Uint8Array): string {
  const shown = body.subarray(0, hexBytesMax);
  const lines = Array.from({ length: Math.ceil(shown.length / lineBytes) }, (_, index) => {
    const bytes = [...shown.subarray(index * lineBytes, (index + 1) * lineBytes)];
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const read = bytes.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    return `${(index * lineBytes).toString(16).padStart(6, "0")}  ${hex.padEnd(lineBytes * 3 - 1)}  ${read}`;
  });
  return lines.join("\n");
}
