/**
 * Limits of a private toolkit (an app's tools, published by one project): tools, bytes of one file of its definition, bytes of the whole
 * definition, instructions of all its regular expressions together, and characters of one regular expression.
 */
export const toolkitLimits = {
  tools: 1_500,
  fileBytes: 65_536,
  bytes: 4_194_304,
  patternSteps: 5_000,
  patternLength: 500,
} as const;
