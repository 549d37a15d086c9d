import type { DescService, Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { type ProjectId, parseId, principalContext } from "@svc/core";
import { outcomeOf } from "./audit-action.ts";
import type { ActionEnd, AuditLog } from "./log.ts";
import { type AuditRule, readAuditRule } from "./rules.ts";

type Method = (request: Message, context: HandlerContext) => unknown;

/**
 * Returns a service implementation that records each audited call before its execution, and its outcome afterwards. Throws an Error if a
 * call of svc.v1 has no valid declaration of how it is audited.
 */
export function enterCalls<Implementation extends object>(
  service: DescService,
  implementation: Implementation,
  log: AuditLog,
): Implementation {
  if (!service.typeName.startsWith("svc.v1.")) return implementation;
  const entering: Implementation = Object.create(implementation);
  for (const desc of service.methods) {
    const rule = readAuditRule(desc);
    const method: unknown = Reflect.get(implementation, desc.localName);
    if (rule === undefined || typeof method !== "function") continue;
    const enter = desc.methodKind === "unary" ? entered : enteredStream;
    Reflect.set(entering, desc.localName, enter(rule, method.bind(implementation) as Method, log));
  }
  return entering;
}

function entered(rule: AuditRule, method: Method, log: AuditLog): Method {
  return async (request, context) => {
    const { id, projectId } = await enterCall(rule, log, request, context);
    try {
      const response = (await method(request, context)) as Message;
      await log.end(id, { outcome: "ok", ...madeBy(rule, response, projectId) });
      return response;
    } catch (error) {
      await log.end(id, { outcome: outcomeOf(error) });
      throw error;
    }
  };
}

/**
 * Returns a streaming API method that writes an audit entry for each call before the stream begins, and stores the outcome when it ends.
 * The outcome is `canceled` if the caller left before the end.
 */
function enteredStream(rule: AuditRule, method: Method, log: AuditLog): Method {
  return async function* (request, context) {
    const { id } = await enterCall(rule, log, request, context);
    let outcome = "canceled";
    try {
      yield* method(request, context) as AsyncIterable<Message>;
      outcome = "ok";
    } catch (error) {
      if (!context.signal.aborted) outcome = outcomeOf(error);
      throw error;
    } finally {
      await log.end(id, { outcome });
    }
  };
}

async function enterCall(rule: AuditRule, log: AuditLog, request: Message, context: HandlerContext) {
  const actor = context.values.get(principalContext);
  if (actor === undefined) throw new Error(`${rule.action} is audited, and has no caller`);
  const projectId = actor.kind === "project" ? actor.projectId : readProject(rule.projectId?.(request));
  // What a customer does in the portal concerns the portal's entity.
  const portalEntity = actor.kind === "project" ? actor.portal?.entityId : undefined;
  const [subject, entityId] = [rule.subject?.(request) ?? "", rule.entity?.(request) || (portalEntity ?? "")];
  return { id: await log.enter({ actor, action: rule.action, projectId, subject, entityId }), projectId };
}

/**
 * Returns data for the audit entry of a call that created an object. The id of the object and its project are known only from the response
 * of the call.
 */
function madeBy(rule: AuditRule, response: Message, projectId: ProjectId | undefined): Omit<ActionEnd, "outcome"> {
  const made = rule.made?.(response);
  const owner = projectId ?? readProject(rule.madeProjectId?.(response));
  return { ...(made && { subject: made }), ...(owner !== projectId && { projectId: owner }) };
}

function readProject(text = ""): ProjectId | undefined {
  return parseId("prj", text);
}
