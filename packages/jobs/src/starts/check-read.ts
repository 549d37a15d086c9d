import type { Binding, ProjectId, Written } from "@svc/core";
import type { JsonObject } from "@svc/program";
import { checkForProject } from "../api/check.ts";
import type { JobsContext } from "../api/context.ts";

/** A call that is made again and again beside a program, with the same arguments each time. */
export type ReadCheck = {
  readonly projectId: ProjectId;
  readonly binding: Binding | null;
  readonly call: string;
  readonly entity: string;
  readonly args: JsonObject;
};

/** What is wrong with it; the path begins at `call`, `entity` or `args`. */
export type ReadFault = { readonly path: readonly string[]; readonly message: string; readonly hint: Written };

/** Checks such a call as that of a program: its tool, its account and its arguments. */
export async function checkRead(
  context: Pick<JobsContext, "db" | "sealer" | "views" | "accounts">,
  { projectId, binding, call, entity, args }: ReadCheck,
): Promise<readonly ReadFault[]> {
  const step = { id: "read", call, entity, args };
  const programJson = JSON.stringify({ version: 1, title: "Read", steps: [step] });
  const checked = await checkForProject(context, { projectId, binding, programJson, isStored: false });
  if (!("faults" in checked)) return [];
  return checked.faults.map(({ pointer, message, hint }) => {
    const [, , ...path] = pointer
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    return { path, message, hint };
  });
}
