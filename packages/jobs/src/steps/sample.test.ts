import { createRedactor } from "@svc/tools";
import { expect, test } from "vitest";
import { sampleOf } from "./sample.ts";

test("what a simulated write answers has other texts where they are sensitive: masking those leaves the rest to be read", () => {
  const text = { type: "string" };
  const sample = sampleOf({
    type: "object",
    properties: {
      title: text,
      token: { ...text, "x-sensitive": true },
      keys: { type: "object", "x-sensitive": true, properties: { first: text, url: { ...text, format: "uri" } } },
      mail: { ...text, format: "email" },
    },
  }) as { title: string; token: string; keys: { first: string; url: string }; mail: string };
  const { title, token, keys, mail } = sample;
  const redact = createRedactor([token, keys.first, keys.url]);
  expect(redact(`${title} ${mail} ${token} ${keys.first} ${keys.url}`)).toBe(
    "simulated simulated@example.com *** *** ***",
  );
});
