import type { JobsContext } from "../api/context.ts";

/** What calling skills uses. */
export type SkillContext = Pick<JobsContext, "db" | "clock" | "sealer" | "views" | "accounts" | "engine" | "programs">;
