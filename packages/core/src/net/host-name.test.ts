import { expect, test } from "vitest";
import { httpTargetOf, parseHttpHost } from "./host-name.ts";

test.each([
  ["api.example.com", "api.example.com"],
  ["API.Example.COM", "api.example.com"],
  ["api.example.com:443", "api.example.com"],
  ["api.example.com:8443", "api.example.com:8443"],
  ["api.example.com:80", "api.example.com:80"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["xn--bcher-kva.example", "xn--bcher-kva.example"],
  ["127.0.0.1:8080", "127.0.0.1:8080"],
  ["2130706433", "127.0.0.1"],
  ["[::1]:8080", "[::1]:8080"],
  ["localhost:3000", "localhost:3000"],
])("%s is the host %s", (text, host) => {
  expect(parseHttpHost(text)).toBe(host);
  // If the result is parsed again, it does not change.
  expect(parseHttpHost(host)).toBe(host);
});

test.each([
  "",
  "*.example.com",
  "*",
  "https://api.example.com",
  "api.example.com/path",
  "api.example.com?x",
  "api.example.com#x",
  "user@api.example.com",
  "user:password@api.example.com",
  "api.example.com:0",
  "api.example.com:99999",
  "a..b",
  "api.example.com.",
  "-a.example",
  "a b",
  "a%2eb",
  "a\\b",
  "x".repeat(301),
])("%j is no host", (text) => {
  expect(parseHttpHost(text)).toBeUndefined();
});

test.each([
  ["https://api.example.com/a?b=c", "api.example.com"],
  ["HTTPS://API.example.com/", "api.example.com"],
  ["https://api.example.com:443/", "api.example.com"],
  ["https://api.example.com:8443/", "api.example.com:8443"],
  // A host name that ends in a dot is a different text, so it is on no list of allowed hosts.
  ["https://api.example.com./", "api.example.com."],
  ["https://api。example。com/", "api.example.com"],
  ["https://bücher.example/", "xn--bcher-kva.example"],
  ["http://127.0.0.1:8080/", "127.0.0.1:8080"],
  ["http://127.0.0.1/", "127.0.0.1:80"],
  ["https://0x7f000001/", "127.0.0.1"],
])("%s goes to %s", (text, host) => {
  expect(httpTargetOf(text)).toEqual({ host });
});

test.each([
  ["api.example.com/a", "is not an absolute https URL"],
  ["ftp://api.example.com/", "is not an absolute https URL"],
  ["https://", "is not an absolute https URL"],
  ["https://user@api.example.com/", "carries credentials"],
  ["https://api.example.com@evil.example/", "carries credentials"],
  ["https://api.example.com/#", "has a fragment"],
  ["http://api.example.com/", "is http, which is for loopback addresses only"],
  ["http://localhost.example.com/", "is http, which is for loopback addresses only"],
  ["http://10.0.0.5/", "is http, which is for loopback addresses only"],
  ["https://a..b/", "has a host that is not a valid name"],
  ["https://api.example.com:0/", "has a host that is not a valid name"],
])("%s goes nowhere: it %s", (text, fault) => {
  expect(httpTargetOf(text)).toEqual({ fault });
});
