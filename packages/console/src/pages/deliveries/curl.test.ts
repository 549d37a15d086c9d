import { expect, test } from "vitest";
import { curlOf } from "./curl.ts";

test("a shell reads the command as the request: quotes, line breaks and dollars of the body stay", () => {
  const body = `{"text":"it's $HOME\n"}`;
  expect(curlOf({ url: "https://example.com/a?b=1&c=2", headers: { "webhook-id": "dlv_1" }, body })).toBe(
    `curl -X POST 'https://example.com/a?b=1&c=2' \\\n  -H 'webhook-id: dlv_1' \\\n  --data-raw '{"text":"it'\\''s $HOME\n"}'`,
  );
});

test("a body that begins with @ is sent, and curl reads no file", () => {
  expect(curlOf({ url: "http://127.0.0.1/", headers: {}, body: "@/etc/hosts" })).toContain("--data-raw '@/etc/hosts'");
});

test("without a body there is no option for one", () => {
  expect(curlOf({ url: "http://127.0.0.1/", headers: {}, body: "" })).toBe("curl -X POST 'http://127.0.0.1/'");
});
