import { type CatalogView, classToConfirm, fitInput } from "@svc/catalog";
import { type ConfirmRule, confirmingRule, isObject } from "@svc/core";
import type { Contact, NewContact } from "@svc/db";
import { isStorable, readJson, unstorable } from "../read-json.ts";
import {
  contactNameInvalid,
  principalIdInvalid,
  reachArgsInvalid,
  reachEntityInvalid,
  reachToolNotFound,
  reachToolUnsuitable,
} from "./errors.ts";
import { fillReachArguments, type ReachArguments, unknownPlaceholder } from "./reach-arguments.ts";

const charactersMax = 200;
const argsBytesMax = 16_384;

/** A contact as PutContact is given it. */
export type GivenContact = {
  readonly principalId: string;
  readonly name: string;
  readonly approver: boolean;
  readonly reach?: GivenReach | undefined;
};

type GivenReach = { readonly toolSlug: string; readonly entityId: string; readonly argsJson: string };

/** What a contact is checked by: the project's view of its tools, and which calls of the key that puts it a person confirms. */
export type ContactCheck = {
  readonly view: CatalogView;
  readonly confirm: readonly ConfirmRule[] | undefined;
  readonly nowMs: number;
};

/** Returns a contact as it is to be stored. Throws the first of the faults that PutContact names. */
export function checkContact(
  { view, confirm, nowMs }: ContactCheck,
  given: GivenContact | undefined,
): Omit<NewContact, "keyId"> {
  const { principalId = "", name = "", approver = false, reach } = given ?? {};
  if (!isName(principalId)) throw principalIdInvalid(principalId);
  if (!isName(name)) throw contactNameInvalid(name);
  return {
    principalId,
    name,
    isApprover: approver,
    reach: reach === undefined ? null : checkReach({ view, confirm }, reach),
    createdAt: nowMs,
  };
}

function isName(text: string): boolean {
  return text !== "" && [...text].length <= charactersMax && text.isWellFormed() && !/\p{Cc}/u.test(text);
}

function checkReach(
  { view, confirm }: Omit<ContactCheck, "nowMs">,
  { toolSlug, entityId, argsJson }: GivenReach,
): NonNullable<Contact["reach"]> {
  const tool = view.tools.get(toolSlug);
  if (tool === undefined) throw reachToolNotFound(toolSlug);
  if (tool.kind !== "action") throw reachToolUnsuitable(toolSlug, "is not called by anybody");
  if (!tool.callable) throw reachToolUnsuitable(toolSlug, "cannot be called");
  if (tool.class === "destructive") throw reachToolUnsuitable(toolSlug, "is destructive");
  if (confirmingRule(confirm, classToConfirm(tool)) !== undefined) {
    throw reachToolUnsuitable(toolSlug, "writes, and a person confirms each write of the key that puts the contact");
  }
  if (!isName(entityId)) throw reachEntityInvalid(entityId);
  const args = readArguments(argsJson);
  const unknown = unknownPlaceholder(args);
  if (unknown !== undefined) throw reachArgsInvalid(`names the placeholder {${unknown.slice(0, 80)}}`);
  const { faults } = fitInput(tool.inputSchema, tool.validateInput, fillReachArguments(args, sampleValues));
  const [fault] = faults;
  if (fault !== undefined) {
    throw reachArgsInvalid(
      `breaks the tool's input schema: ${fault.pointer === "" ? "it" : fault.pointer} ${fault.message}`,
    );
  }
  return { toolSlug, entityId, args };
}

/** Stands for those of an ask that is to come. */
const sampleValues = {
  question: "Continue?",
  jobId: "job_00000000000000000000000000",
  requestId: "ask_00000000000000000000000000",
  link: `https://svc.example.com/console/answer#${"0".repeat(43)}`,
};

function readArguments(argsJson: string): ReachArguments {
  if (Buffer.byteLength(argsJson) > argsBytesMax) throw reachArgsInvalid(`exceeds ${argsBytesMax} bytes`);
  const args = readJson(argsJson)?.value;
  if (!isObject(args)) throw reachArgsInvalid("is not a JSON object");
  if (!isStorable(args)) throw reachArgsInvalid(unstorable);
  return args as ReachArguments;
}
