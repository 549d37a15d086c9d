export { canonicalHash, canonicalJson } from "./canonical.ts";
export type { AcceptedProgram, CheckedProgram } from "./check/accepted-program.ts";
export { boundFaultsOf } from "./check/bound.ts";
export type { CheckContext } from "./check/context.ts";
export {
  type DescribedStep,
  describeProgram,
  type KnownName,
  type ProgramDescription,
  type ProgramRead,
  type ReadKind,
} from "./check/describe.ts";
export { checkProgram } from "./check/program.ts";
export { pathsNamed } from "./check/sensitive.ts";
export { programDigest } from "./check/skills.ts";
export { needsPlanApproval, type ProgramEstimate, writesFrom } from "./estimate.ts";
export {
  createFaultList,
  type DocumentFault,
  type FaultList,
  faultsText,
  type ProgramFault,
  type ProgramNote,
} from "./faults.ts";
export { type BodyFault, type CompiledBody, type RenderedBody, readBody } from "./filter/body.ts";
export { checkFilter, type FilterFault } from "./filter/check-filter.ts";
export {
  type CompiledFilter,
  compileFilter,
  type FilteredEvent,
  type FilterOutcome,
  filterPayloadBytes,
} from "./filter/filter.ts";
export { gateOf } from "./gate.ts";
export {
  checkGivenExpression,
  examineGiven,
  fillGiven,
  type GivenTemplate,
  type GivenTypes,
  readGiven,
} from "./given/given.ts";
export { type JsonObject, type JsonValue, type Path, pointerOf } from "./json.ts";
export type { Limits } from "./limits.ts";
export {
  createPinReader,
  type PinnedSkill,
  type PinnedSkills,
  type PinnedTool,
  type PinnedTools,
  type Pins,
  pinsOf,
  pinsText,
  readPins,
} from "./pins.ts";
export type { Continuation, Hop, OverrideTarget, Point } from "./point.ts";
export type { PlanApproval, Program } from "./program.ts";
export { programSchema } from "./program-schema.ts";
export { readExpression } from "./read/expression.ts";
export { placesOf } from "./read/field-places.ts";
export { durationSchema, type FieldForms, type ObjectForm, schemaOf, wholeSchema } from "./read/form.ts";
export { parseJsonText } from "./read/json-text.ts";
export { withOldForms } from "./read/limits.ts";
export { handlesCode } from "./read/on-error.ts";
export { parseCheckedProgram, readProgram } from "./read/program.ts";
export { parsePath } from "./read/reference.ts";
export { createShapeReader, type ReaderDocument, type ShapeNode, type ShapeReader } from "./read/shape.ts";
export type { CelOutcome } from "./run/evaluation.ts";
export { type CelComputed, createEvaluator, type Evaluator, evaluationThread } from "./run/evaluator.ts";
export { type AppliedOverrides, argumentsWith } from "./run/overrides.ts";
export { rerunOf } from "./run/rerun.ts";
export {
  type Computed,
  computeExpressions,
  type Resolution,
  type ResolveFault,
  type RunScope,
  resolveArguments,
  resolveResult,
  resolveText,
  resolveValue,
  valueAt,
} from "./run/resolve.ts";
export { readSkillName, type SkillName } from "./skill-name.ts";
export type { CallStep } from "./steps/call.ts";
export type { HttpStep } from "./steps/http.ts";
export { callsOf, runsOf, type Step, type StepOf, stepsOf, stepTitle } from "./steps/index.ts";
export { isCall, type MapCall, type RowStep } from "./steps/map.ts";
export { classOfMethod, type HttpCall } from "./steps/parts/http-request.ts";
export { type Paging, pagingOf } from "./steps/parts/page.ts";
export { listedRowsMax, type Reduction, type Reductions } from "./steps/parts/reductions.ts";
export type { RetryRule } from "./steps/parts/tool-call.ts";
export type { SortKey } from "./steps/sort.ts";
export { type Expression, expressionsOf, type SecretSlot, secretsOf, type ValueTemplate } from "./template.ts";
export { type ExpressionWord, expressionWords } from "./types/expression-words.ts";
export { answerTypeOf, typeOfConstant, typesOf } from "./types/schema-type.ts";
export type { RowState } from "./types/scope.ts";
