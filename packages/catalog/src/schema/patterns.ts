export { compileLinearRegExp, type LinearRegExp } from "./linear-reg-exp.ts";
export { patternSteps } from "./pattern-size.ts";
