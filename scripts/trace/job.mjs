import { setTimeout as wait } from "node:timers/promises";

const lookMs = 100;
const endMs = 600_000;

/**
 * Runs a program to its end on a new service. Connects the accounts of its calls and creates the contacts of its questions. Then submits
 * the program, and answers every question with `proceed`, as the first contact that svc asked. Resolves to the job.
 */
export async function runProgram(service, programJson, { signal, tell }) {
  const program = JSON.parse(programJson);
  for (const account of accountsOf(program)) {
    await service.call("ConnectionsService/InitiateConnection", { ...account, apiKey: "sandbox" });
  }
  for (const principalId of contactsOf(program)) {
    const contact = { principalId, name: principalId, approver: true };
    await service.call("ContactsService/PutContact", { contact });
  }
  const { job } = await service.call("JobsService/SubmitJob", { programJson });
  tell(`submitted as ${job.id}`);
  return followJob(service, job.id, { signal, tell });
}

async function followJob(service, id, { signal, tell }) {
  for (const lateAt = performance.now() + endMs; ; await wait(lookMs, undefined, { signal })) {
    const { job } = await service.call("JobsService/GetJob", { id });
    if (job.finishedAt !== undefined) return job;
    if (job.pendingAsk !== undefined) {
      const { pointId, deliveredPrincipals } = job.pendingAsk;
      const [principalId] = deliveredPrincipals;
      tell(`${pointId} is asked: ${principalId} answers proceed`);
      await service.call("JobsService/AnswerAsk", { jobId: id, principalId, continuation: "proceed" });
    }
    if (performance.now() > lateAt) throw new Error(`the job is still ${job.status} after ${endMs / 1000} s`);
  }
}

/** Returns the accounts that the calls of a program need, without duplicates. */
function accountsOf(program) {
  const calls = objectsIn(program).filter(({ call, entity }) => typeof call === "string" && typeof entity === "string");
  const names = calls.map(({ call, entity }) => JSON.stringify([call.slice(0, call.lastIndexOf(".")), entity]));
  return [...new Set(names)].map((name) => {
    const [toolkitSlug, entityId] = JSON.parse(name);
    return { toolkitSlug, entityId };
  });
}

/**
 * Returns the contacts in the escalations of a program's questions, without duplicates. If there are none, svc's own contacts are asked.
 */
function contactsOf(program) {
  const principals = objectsIn(program).flatMap(({ escalation }) => (Array.isArray(escalation) ? escalation : []));
  return new Set(principals.map(({ principal }) => principal));
}

/** Returns every object inside a value, outer objects before inner ones. */
function objectsIn(value) {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(objectsIn);
  return Array.isArray(value) ? inner : [value, ...inner];
}
