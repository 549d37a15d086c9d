import { expect, test } from "vitest";
import { loopbackRanges } from "./loopback.ts";

const open = ["127.0.0.0/8", "::1/128"];

test.each([
  ["127.0.0.1", undefined, open],
  ["::1", "http://[::1]:8080", open],
  ["localhost", "http://localhost:8080", open],
  ["127.0.0.1", "http://127.0.0.1:8080/base", open],
  ["127.0.0.1", "https://svc.example.com", []],
  ["127.0.0.1", "http://10.0.0.1", []],
  ["0.0.0.0", undefined, []],
  ["0.0.0.0", "http://127.0.0.1:8080", []],
])("listening on %s, reached at %s, loopback is open: %j", (host, publicUrl, expected) => {
  expect(loopbackRanges({ host, publicUrl })).toEqual(expected);
});
