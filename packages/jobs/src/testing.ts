export { createProgramCache } from "./drive/programs.ts";
export { submitJob } from "./drive/submit-job.ts";
