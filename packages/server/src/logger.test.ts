import { expect, test } from "vitest";
import { createLogger } from "./logger.ts";

test("fields with a secret's name are hidden in a line, in its objects, and in the headers of these", async () => {
  const lines: string[] = [];
  const logger = await createLogger({ level: "info", destination: { write: (line) => void lines.push(line) } });
  const given = {
    ...{ key: "s1", jobId: "job_1", err: Object.assign(new Error("x"), { token: "s2" }) },
    request: { cookie: "s3", path: "/", headers: { authorization: "s4", accept: "json" } },
    list: [1, "two"],
  };
  logger.info(given, "said");
  logger.info("plain");
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(first).toMatchObject({
    ...{ msg: "said", key: "[redacted]", jobId: "job_1", err: { message: "x" }, list: [1, "two"] },
    request: { cookie: "[redacted]", path: "/", headers: { authorization: "[redacted]", accept: "json" } },
  });
  expect(lines.join("")).not.toMatch(/"s\d"/);
  expect(second).toMatchObject({ level: "info", msg: "plain" });
  expect(given.request.headers.authorization).toBe("s4");
});
