// Requests and responses that tests have recorded (test/golden/calls). Values that differ from run to run are replaced by fixed values.

const shown = [
  ["TIME", "2026-03-14T09:00:00Z"],
  ["TEXT", "…"],
  ["BYTES", "…"],
];
const charactersMax = 3_000;

/**
 * Returns the first successful call of each method: request and response by `Service.Method`. A list in a response has only one item, and
 * long responses are left out.
 */
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

/** Returns a response in which each list of objects has only one item, because the others look alike. */
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
