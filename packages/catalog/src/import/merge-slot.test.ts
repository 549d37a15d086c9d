import { createId } from "@svc/core";
import { expect, test } from "vitest";
import { createToolkitImporter } from "./import-toolkit.ts";

test("a project has one merge at a time", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const unused = () => Promise.reject(new Error("not called"));
  const threads = { run: () => promise };
  const { merge } = createToolkitImporter({ threads, read: unused, readOpenId: unused, readMcp: unused });
  const task = {
    ...{ current: "", next: "", digest: "", tools: [], flagged: [], origin: false },
    ...{ options: "{}", overrides: [] },
  };
  const [projectId, other] = [createId("prj", 1), createId("prj", 2)];
  const [first, elsewhere] = [merge(task, projectId), merge(task, other)];
  await expect(merge(task, projectId)).rejects.toThrow("right now");
  resolve({ isOutdated: true });
  expect(await Promise.all([first, elsewhere])).toEqual(["outdated", "outdated"]);
  expect(await merge(task, projectId)).toBe("outdated");
});
