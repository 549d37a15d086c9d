const headEnd = Buffer.from("\r\n\r\n");

/** Returns the length of the HTTP request at the start of `bytes`, with its body, or 0 while its head is incomplete. */
export function requestBytes(bytes: Buffer): number {
  const end = bytes.indexOf(headEnd);
  if (end < 0) return 0;
  const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1] ?? "0";
  return end + headEnd.length + Number(length);
}
