// Requests and responses that tests recorded (test/golden/calls), with values in the place of what differs from run to run.

const shown = [
  ["TIME", "2026-03-14T09:00:00Z"],
  ["TEXT", "…"],
  ["BYTES", "…"],
];
const charactersMax = 3_000;

/** The first call of each method that succeeded: `Service.Method` to its request and response. A list in a response has one item, and a long response is left out. */
export function examplesOf(recordings) {
  const examples = new Map();
  for (const [service, text] of recordings) {
    for (const [, method, request, response] of text.matchAll(/^(\w+) (\{.*\})\n200 (\{.*\})$/gm)) {
      const name = `${service}.${method}`;
      if (examples.has(name)) continue;
      const shortened = shorten(parsed(response));
      const isShown = JSON.stringify(shortened).length <= charactersMax;
      examples.set(name, { request: parsed(request), response: isShown ? shortened : undefined });
    }
  }
  return examples;
}

/** A response with one item of each list of objects: the others look alike. */
function shorten(value) {
  if (Array.isArray(value)) return (typeof value[0] === "object" ? value.slice(0, 1) : value).map(shorten);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shorten(one)]));
}

function parsed(json) {
  return JSON.parse(json, (_name, value) => (typeof value === "string" ? unmasked(value) : value));
}

function unmasked(text) {
  const [, value = text] = shown.find(([masked]) => text === masked) ?? [];
  return value;
}
