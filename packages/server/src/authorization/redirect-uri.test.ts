import { expect, test } from "vitest";
import { redirectUriFault } from "./redirect-uri.ts";

test.each([
  "https://agent.example/cb?of=1",
  "https://xn--bcher-kva.example:8443/cb",
  "https://[2001:db8::1]/cb",
  "http://127.0.0.1:50001/cb",
  "http://[::1]/cb",
  "com.example.agent:/cb",
])("%s may be led to", (uri) => {
  expect(redirectUriFault(uri)).toBeUndefined();
});

test.each([
  "https://a;sandbox.example/cb",
  "https://a,b.example/cb",
  "https://*.example/cb",
  "https://a%3bsandbox.example/cb",
  "https://a'b.example/cb",
  "https://a{b.example/cb",
])("%s would write a rule of its own into the policy of the page that asks, and is refused", (uri) => {
  expect(redirectUriFault(uri)).toMatch(/^the host of a redirect URI/);
});
