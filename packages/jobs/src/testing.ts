export { submitJob } from "./drive/new-jobs.ts";
export { createProgramCache } from "./drive/programs.ts";
