import type { JobsContext } from "../api/context.ts";

/** What calling skills works with. */
export type SkillContext = Pick<JobsContext, "db" | "clock" | "sealer" | "views" | "accounts" | "engine" | "programs">;
