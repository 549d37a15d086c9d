export { compileLinearRegExp, type LinearRegExp, patternSteps } from "./linear-reg-exp.ts";
