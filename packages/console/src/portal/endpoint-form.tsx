import { useQuery } from "@connectrpc/connect-query";
import { TriggersService } from "@svc/gen/triggers";
import { DraftEditor, type EditedDraft } from "../pages/subscriptions/draft-editor.tsx";
import {
  AddressFields,
  CredentialFields,
  FilterField,
  inputOf,
  Part,
  type SubscriptionForm,
  TypesField,
} from "../pages/subscriptions/shared-fields.tsx";
import { SelectField } from "../ui/fields/select-field.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { endpointFormats, typeName, typeSlug } from "./words.ts";

/**
 * Maximum number of event types that the form lists. Most projects have fewer. If a project has more, the customer can name the missing
 * event types in the filter.
 */
const typesMax = 500;

/** Draws the form of an endpoint with the fields that a customer may set, and the preview on past events. */
export function EndpointForm(edited: EditedDraft) {
  return (
    <DraftEditor {...edited} fields={(form) => <EndpointFields form={form} subscription={edited.subscription} />} />
  );
}

function EndpointFields({
  form,
  subscription,
}: {
  form: SubscriptionForm;
  subscription: EditedDraft["subscription"] | undefined;
}) {
  const types = useQuery(TriggersService.method.listEventTypes, { pageSize: typesMax }, { staleTime: 60_000 });
  const known = types.data?.eventTypes.map(({ name }) => typeSlug(name)) ?? [];
  return (
    <Stack>
      <AddressFields form={form} hint="The address of your server that receives the events, such as https://…" />
      <TypesField form={form} known={known} all="All event types" wordsOf={typeName} />
      <FilterField form={form} />
      <Part title="Format" isOpen={form.draft.format !== "svc"}>
        <SelectField
          {...inputOf(form, "format", "Format of deliveries", "format.kind")}
          options={endpointFormats}
          hint="The body and the headers that your server gets."
        />
      </Part>
      <Part title="Headers and authentication" isOpen={subscription?.credentials !== undefined}>
        <CredentialFields form={form} subscription={subscription} />
      </Part>
    </Stack>
  );
}
