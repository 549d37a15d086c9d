/** Letters, digits and inner hyphens (RFC 1123, 2.1), and the underscore, which hosts of the real world have. */
const labelPattern = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const nameCharactersMax = 253;

/** Whether a host can be one: an address, or labels of 63 characters with dots between them. URL takes others, `a..b` and `-` among them. */
export function isHostName(hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  // One dot at the end says that the name is whole.
  const name = hostname.replace(/\.$/, "");
  return name.length <= nameCharactersMax && name.split(".").every((label) => labelPattern.test(label));
}
