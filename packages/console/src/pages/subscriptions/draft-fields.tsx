import type { Subscription } from "@svc/gen/triggers";
import { Choice } from "../../ui/fields/choice.tsx";
import { AreaField, CheckField, TextField } from "../../ui/fields/field.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { formatOptions, paceOptions } from "../../words/subscriptions.ts";
import { useEventToolkits, useTriggerSlugs } from "../events/trigger-choice.tsx";
import {
  AddressFields,
  CredentialFields,
  FilterField,
  inputOf,
  Part,
  type SubscriptionForm,
  TypesField,
} from "./shared-fields.tsx";

/**
 * Draws the form fields for the settings of a subscription. `subscription`: the existing subscription that the form changes; undefined for a
 * new one.
 */
export function DraftFields({ form, subscription }: { form: SubscriptionForm; subscription?: Subscription }) {
  const { draft, change } = form;
  return (
    <Stack>
      <AddressFields form={form} />
      {subscription === undefined && <ToolkitFields form={form} />}
      <TypesOfToolkit form={form} />
      <FilterField form={form} />
      <Part title="Format" isOpen={draft.format !== "svc"}>
        <SelectField
          {...inputOf(form, "format", "Format of deliveries", "format.kind")}
          options={formatOptions}
          hint="The body and the headers that your server gets."
        />
        {draft.format === "custom" && (
          <AreaField
            {...inputOf(form, "bodyJson", "Body", "format.bodyJson")}
            mono
            tall
            hint='JSON. {"$ref": "event.payload.amount"} becomes a value, {"$text": "{event.type}"} a text with values, {"$cel": "…"} a computed value.'
          />
        )}
      </Part>
      <Part title="Headers and authentication" isOpen={subscription?.credentials !== undefined}>
        <CredentialFields form={form} subscription={subscription} />
      </Part>
      <Part title="Retries" isOpen={draft.waits !== "" || draft.neverGiveUp || draft.giveUpAfter !== ""}>
        <TextField
          {...inputOf(form, "waits", "Waits between attempts", "retry.schedule")}
          mono
          placeholder="10s, 1m, 10m, 1h"
          hint="Up to 20 waits of 1s to 3d, separated by commas. Leave it empty for the deployment's schedule."
        />
        <CheckField
          label="Never deactivate because of failures"
          checked={draft.neverGiveUp}
          onChange={(neverGiveUp) => change({ neverGiveUp })}
        />
        {!draft.neverGiveUp && (
          <TextField
            {...inputOf(form, "giveUpAfter", "Deactivate after failures of", "retry.giveUpAfter")}
            mono
            placeholder="5d"
            hint="1h to 30d without a success. Leave it empty for 5 days."
          />
        )}
        <TextField
          {...inputOf(form, "timeout", "Timeout of an attempt", "retry.timeoutMs")}
          mono
          placeholder="15s"
          hint="1s to 15s. Leave it empty for 15 seconds."
        />
      </Part>
      <Part title="Pace" isOpen={draft.paceMax !== "" || draft.concurrency !== ""}>
        <TextField
          {...inputOf(form, "paceMax", "Most attempts in a period", "pace.max")}
          inputMode="numeric"
          placeholder="10"
          hint="1 to 10,000, evenly spaced. Deliveries that have to wait are late, but not lost. Leave it empty for no limit."
        />
        <SelectField {...inputOf(form, "pacePer", "Period", "pace.per")} options={paceOptions} />
        <TextField
          {...inputOf(form, "concurrency", "Most attempts in flight", "pace.concurrency")}
          inputMode="numeric"
          placeholder="2"
          hint="1 to 256, over all nodes. Leave it empty for the deployment's limit."
        />
      </Part>
    </Stack>
  );
}

/**
 * Draws the fields that cannot be changed after the subscription was created: its toolkit (app) and its entity (the customer or user whose
 * events it receives).
 */
function ToolkitFields({ form }: { form: SubscriptionForm }) {
  const { draft, change } = form;
  const toolkits = useEventToolkits().map((slug) => ({ value: slug, words: slug }));
  return (
    <>
      <Line>
        <Choice
          label="Events of"
          value={draft.toolkitSlug}
          options={[{ value: "", words: "all apps" }, ...toolkits]}
          onChange={(toolkitSlug) => change({ toolkitSlug, types: [] })}
        />
      </Line>
      <TextField
        {...inputOf(form, "entityId", "User")}
        autoComplete="off"
        hint="Only events of this customer or user, by your own id. Leave it empty for all. It cannot be changed later."
      />
    </>
  );
}

/** Draws the chosen event types, and a list from which the user adds others. */
function TypesOfToolkit({ form }: { form: SubscriptionForm }) {
  const { toolkitSlug } = form.draft;
  // Operational events need a subscription to their own toolkit, so a subscription to every toolkit cannot name them.
  const known = useTriggerSlugs(toolkitSlug, { isEvery: true }).filter(
    (slug) => toolkitSlug !== "" || !slug.startsWith("svc."),
  );
  return (
    <TypesField
      form={form}
      known={known}
      all={toolkitSlug === "" ? "All event types" : `All event types of ${toolkitSlug}`}
    />
  );
}
