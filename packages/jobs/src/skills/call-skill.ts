import type { JobsContext } from "../api/context.ts";

/** Dependencies of calling skills. */
export type SkillContext = Pick<
  JobsContext,
  "db" | "clock" | "sealer" | "views" | "meter" | "accounts" | "engine" | "programs" | "sandboxMode"
>;
