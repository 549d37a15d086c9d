export { submitJob } from "./drive/start/submit-job.ts";
export { createProgramCache } from "./drive/store/stored-program.ts";
