import { expect, test } from "vitest";
import { browserWords } from "./browsers.ts";

test("a browser is named as people know it, not as it calls itself", () => {
  expect(browserWords("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36")).toBe(
    "Chrome on Linux",
  );
  expect(browserWords("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/156.0 Safari/537.36 Edg/156.0")).toBe(
    "Edge on Windows",
  );
  expect(browserWords("curl/8.0")).toBe("curl/8.0");
  expect(browserWords("")).toContain("Unknown");
});
