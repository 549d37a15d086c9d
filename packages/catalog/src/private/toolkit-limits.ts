/**
 * Limits of a private toolkit. `fileBytes`, `bytes`: size of one file, and of all files together. `patternSteps`: size of all regular
 * expressions together; `x{100}` counts as 100.
 */
export const toolkitLimits = {
  tools: 1_500,
  fileBytes: 65_536,
  bytes: 4_194_304,
  patternSteps: 5_000,
  patternLength: 500,
} as const;
