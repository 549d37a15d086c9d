/** A body parsed as JSON; undefined when it is empty or not JSON. */
export function parseJsonBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a trigger may match by headers alone, and a proxy may answer in HTML
  }
}
