import { createId, createSealer, generateSigningSecret, generateVaultKey, parseVaultKeys } from "@svc/core";
import { expect, test } from "vitest";
import { createEndpointCache, type EndpointSource, signingSecretContext } from "./endpoint.ts";

const sealer = createSealer(parseVaultKeys(generateVaultKey()));

function source(endpointUrl = "https://example.com/a?b=c"): EndpointSource {
  const [id, projectId] = [createId("sub", 0), createId("prj", 0)];
  const secret = Buffer.from(generateSigningSecret(), "utf8");
  return { id, projectId, endpointUrl, signingSecret: sealer.seal(secret, signingSecretContext(projectId, id)) };
}

test("an endpoint is opened once, and again when its address or its secret has changed", () => {
  const cache = createEndpointCache(sealer);
  const first = source();
  const endpoint = cache.of(first);
  expect(endpoint).toMatchObject({ origin: "https://example.com", path: "/a?b=c", url: "https://example.com/a?b=c" });
  expect(cache.of({ ...first, signingSecret: Buffer.from(first.signingSecret) })).toBe(endpoint);
  expect(cache.of({ ...first, endpointUrl: "https://example.org/" })).not.toBe(endpoint);
  const { signingSecret } = source();
  expect(() => cache.of({ ...first, signingSecret })).toThrow(/sealed/);
});

test("a secret sealed for another subscription does not open", () => {
  const [one, other] = [source(), source()];
  expect(() => createEndpointCache(sealer).of({ ...one, signingSecret: other.signingSecret })).toThrow(/sealed/);
});

test("of more than 10,000 endpoints the one opened longest ago is forgotten", () => {
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
  for (let index = 0; index < 10_000; index++) cache.of({ ...base, id: createId("sub", index) });
  expect(opened).toBe(10_001);
  cache.of(first);
  expect(opened).toBe(10_002);
});
