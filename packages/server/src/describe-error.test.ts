import { expect, test } from "vitest";
import { describeError } from "./describe-error.ts";
import { createLogger } from "./logger.ts";

/**
 * Returns an error of the kind that drizzle-orm throws: it contains the statement with its values, and as its cause the driver's error with
 * the row.
 */
function queryError(): Error {
  const driver = Object.assign(new Error('duplicate key value violates unique constraint "projects_name"'), {
    name: "PostgresError",
    code: "23505",
    constraint_name: "projects_name",
    detail: "Key (name)=(secret-name) already exists.",
    parameters: ["secret-name"],
  });
  const message = "Failed query: insert into projects values ($1)\nparams: secret-name";
  return Object.assign(new Error(message, { cause: driver }), { params: ["secret-name"] });
}

test("the log has an error's kind, code and frames, and no value of a statement", () => {
  const described = describeError(queryError());
  expect(described).toMatchObject({
    type: "Error",
    message: "Failed query: insert into projects values ($1)",
    cause: { type: "PostgresError", code: "23505", constraint: "projects_name" },
  });
  expect(described.stack).toMatch(/^\s+at /);
  expect(JSON.stringify(described)).not.toContain("secret-name");
});

test("thrown values need not be errors, and causes may be circular", () => {
  expect(describeError("text")).toMatchObject({ type: "string", message: "text" });
  const error = new Error("round");
  error.cause = error;
  expect(describeError(error).cause?.message).toBe("round");
});

test("log lines are JSON and hide secrets", async () => {
  const lines: string[] = [];
  const logger = await createLogger({ level: "info", destination: { write: (line) => void lines.push(line) } });
  logger.info(
    { authorization: "Bearer s3cret", req: { headers: { authorization: "s3cret" }, token: "s3cret" } },
    "hello",
  );
  logger.error({ err: queryError() }, "failed");
  expect(lines.map((line) => JSON.parse(line).level)).toEqual(["info", "error"]);
  expect(lines.join("")).not.toMatch(/s3cret|secret-name/);
});
