import { createId, createSealer, generateSigningSecret, generateVaultKey, parseVaultKeys } from "@svc/core";
import { expect, test } from "vitest";
import { createEndpointCache, type EndpointCache, type EndpointSource, signingSecretContext } from "./endpoint.ts";

const sealer = createSealer(parseVaultKeys(generateVaultKey()));

function source(endpointUrl = "https://example.com/a?b=c"): EndpointSource {
  const [id, projectId] = [createId("sub", 0), createId("prj", 0)];
  const secret = Buffer.from(generateSigningSecret(), "utf8");
  return { id, projectId, endpointUrl, signingSecret: sealer.seal(secret, signingSecretContext(projectId, id)) };
}

/** Creates an endpoint that must be refused, and returns the error. */
function refusalOf(cache: EndpointCache, refused: EndpointSource): string {
  let text = "";
  expect(
    cache.of(refused, (error) => {
      text = String(error);
    }),
  ).toBeUndefined();
  return text;
}

test("an endpoint is opened once, and again when its address or its secret has changed", () => {
  const cache = createEndpointCache(sealer);
  const first = source();
  const endpoint = cache.of(first);
  expect(endpoint).toMatchObject({ origin: "https://example.com", path: "/a?b=c", url: "https://example.com/a?b=c" });
  expect(cache.of({ ...first, signingSecret: Buffer.from(first.signingSecret) })).toBe(endpoint);
  expect(cache.of({ ...first, endpointUrl: "https://example.org/" })).not.toBe(endpoint);
  const { signingSecret } = source();
  expect(refusalOf(cache, { ...first, signingSecret })).toMatch(/sealed/);
});

test("a secret sealed for another subscription does not open", () => {
  const [one, other] = [source(), source()];
  const cache = createEndpointCache(sealer);
  expect(refusalOf(cache, { ...one, signingSecret: other.signingSecret })).toMatch(/sealed/);
});

test("of more than 10,000 endpoints the one longest unused is forgotten", () => {
  let opened = 0;
  const secret = Buffer.from(generateSigningSecret());
  const cache = createEndpointCache({
    ...sealer,
    open: () => {
      opened++;
      return secret;
    },
  });
  const first = source();
  cache.of(first);
  const base = source();
  const others = Array.from({ length: 10_000 }, (_, index) => ({ ...base, id: createId("sub", index) }));
  for (const other of others.slice(0, 9_999)) cache.of(other);
  cache.of(first);
  expect(opened).toBe(10_000);
  cache.of(others[9_999]!);
  cache.of(first);
  expect(opened).toBe(10_001);
  cache.of(others[0]!);
  expect(opened).toBe(10_002);
});
