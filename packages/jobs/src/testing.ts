export { createProgramCache } from "./drive/stored-program.ts";
export { submitJob } from "./drive/submit-job.ts";
