import type { Subscription } from "@svc/gen/triggers";
import { type ReactNode, useState } from "react";
import { Button } from "../../ui/buttons/button.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { AreaField, CheckField, TextField } from "../../ui/fields/field.tsx";
import { FieldGroup, FieldItem } from "../../ui/fields/field-group.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { Disclosure } from "../../ui/layout/disclosure.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { authOptions, credentialsWords } from "../../words/subscriptions.ts";
import type { AuthKind, SubscriptionDraft } from "./draft.ts";

/** The draft and the functions that all fields of a subscription's form share. */
export type SubscriptionForm = {
  draft: SubscriptionDraft;
  change: (to: Partial<SubscriptionDraft>) => void;
  /** The errors of the fields, by the name of the field in the request (such as `match.filter`). */
  at: Readonly<Record<string, string | undefined>>;
};

type TextName = {
  [Name in keyof SubscriptionDraft]: SubscriptionDraft[Name] extends string ? Name : never;
}[keyof SubscriptionDraft];

/**
 * Returns the properties of a text input that edits the setting `name` of a draft: label, value, error and change handler. `path`: name of
 * the setting in API requests, with which its error is found; by default `name`.
 */
export function inputOf({ draft, change, at }: SubscriptionForm, name: TextName, label: string, path: string = name) {
  return { label, value: draft[name], fault: at[path], onChange: (value: string) => change({ [name]: value }) };
}

/** Draws the fields that every subscription's form has: the URL of the endpoint, and a description. */
export function AddressFields({
  form,
  hint = "Where events are posted to: https, or http on this machine.",
}: {
  form: SubscriptionForm;
  hint?: string;
}) {
  return (
    <>
      <TextField
        {...inputOf(form, "endpointUrl", "Endpoint")}
        type="url"
        required
        mono
        placeholder="https://example.com/webhooks"
        hint={hint}
      />
      <TextField
        {...inputOf(form, "description", "Description")}
        hint="A note for people, up to 200 characters. It may be empty."
      />
    </>
  );
}

/** Draws the field for a subscription's filter, a condition that an event must meet to be delivered. */
export function FilterField({ form }: { form: SubscriptionForm }) {
  return (
    <AreaField
      {...inputOf(form, "filter", "Filter", "match.filter")}
      mono
      placeholder="event.payload.amount > 1000"
      hint="A condition in CEL over event. Only events that meet it are delivered. Leave it empty for every event."
    />
  );
}

/**
 * Draws the chosen event types, and a list from which the user adds others. `known`: slugs (API names) of all event types. `all`: text shown
 * if no type is chosen. `wordsOf`: returns the label for a slug.
 */
export function TypesField({
  form: { draft, change, at },
  known,
  all,
  wordsOf = (slug) => slug,
}: {
  form: SubscriptionForm;
  known: readonly string[];
  all: string;
  wordsOf?: (slug: string) => string;
}) {
  const { types } = draft;
  const options = known.filter((slug) => !types.includes(slug)).map((slug) => ({ value: slug, words: wordsOf(slug) }));
  const fault = at["types"] ?? at["match.triggerSlugs"];
  return (
    <FieldGroup label="Event types" {...(fault !== undefined && { faults: [fault] })}>
      {types.length === 0 && <p>{all}</p>}
      {types.map((slug) => (
        <FieldItem
          key={slug}
          label={wordsOf(slug)}
          onRemove={() => change({ types: types.filter((one) => one !== slug) })}
        >
          <code>{wordsOf(slug)}</code>
        </FieldItem>
      ))}
      <Line>
        <Choice
          label="Only these event types"
          value=""
          options={[{ value: "", words: "add one" }, ...options]}
          onChange={(slug) => slug !== "" && change({ types: [...types, slug] })}
        />
      </Line>
    </FieldGroup>
  );
}

/**
 * Draws a section of the form for settings that most subscriptions do not need. `isOpen`: true if the section is open at first; later
 * changes of this property have no effect.
 */
export function Part({ title, isOpen, children }: { title: string; isOpen: boolean; children: ReactNode }) {
  const [wasOpen] = useState(isOpen);
  return (
    <Disclosure summary={<b>{title}</b>} initiallyOpen={wasOpen}>
      <Stack>{children}</Stack>
    </Disclosure>
  );
}

/** Draws the headers and the authentication of deliveries. svc never shows stored ones, so a change replaces all of them. */
export function CredentialFields({
  form,
  subscription,
}: {
  form: SubscriptionForm;
  subscription: Subscription | undefined;
}) {
  const { draft, change, at } = form;
  const { credentials } = subscription ?? {};
  const { headers } = draft;
  const setHeader = (at: number, to: Partial<(typeof headers)[number]>) =>
    change({ headers: headers.map((header, index) => (index === at ? { ...header, ...to } : header)) });
  const headersFault = at["credentials.headers"];
  return (
    <>
      <p>They are stored encrypted, and never shown again.</p>
      {credentials !== undefined && (
        <>
          <p>Stored: {credentialsWords(credentials)}.</p>
          <CheckField
            label="Replace what is stored"
            checked={draft.replacesCredentials}
            onChange={(replacesCredentials) => change({ replacesCredentials })}
            hint="If you enter no headers and no authentication below, the stored ones are removed. They are also removed if the new address is on another server."
          />
        </>
      )}
      {draft.replacesCredentials && (
        <>
          <FieldGroup label="Headers" {...(headersFault !== undefined && { faults: [headersFault] })}>
            {headers.map(({ name, value }, index) => (
              <FieldItem
                // biome-ignore lint/suspicious/noArrayIndexKey: a header has no identity but its place
                key={index}
                label={`header ${index + 1}`}
                onRemove={() => change({ headers: headers.toSpliced(index, 1) })}
              >
                <Stack tight>
                  <TextField
                    label={`Name of header ${index + 1}`}
                    mono
                    autoComplete="off"
                    value={name}
                    onChange={(to) => setHeader(index, { name: to })}
                  />
                  <TextField
                    label={`Value of header ${index + 1}`}
                    type="password"
                    autoComplete="new-password"
                    value={value}
                    onChange={(to) => setHeader(index, { value: to })}
                  />
                </Stack>
              </FieldItem>
            ))}
            <Line>
              <Button icon="plus" onPress={() => change({ headers: [...headers, { name: "", value: "" }] })}>
                Add a header
              </Button>
            </Line>
          </FieldGroup>
          <SelectField
            label="Authentication"
            value={draft.auth}
            options={authOptions}
            onChange={(auth) => change({ auth: auth as AuthKind })}
          />
          <AuthFields form={form} />
        </>
      )}
    </>
  );
}

/** Draws the fields of the chosen kind of authentication. */
function AuthFields({ form }: { form: SubscriptionForm }) {
  const secret = { type: "password", autoComplete: "new-password" } as const;
  switch (form.draft.auth) {
    case "":
      return null;
    case "basic":
      return (
        <>
          <TextField {...inputOf(form, "username", "User name", "credentials.basic")} mono autoComplete="off" />
          <TextField {...inputOf(form, "password", "Password")} {...secret} />
        </>
      );
    case "bearer":
      return (
        <TextField
          {...inputOf(form, "token", "Token", "credentials.bearer")}
          {...secret}
          hint="Without the word Bearer."
        />
      );
    case "oauth2":
      return (
        <>
          <TextField
            {...inputOf(form, "tokenUrl", "Token URL", "credentials.oauth2")}
            type="url"
            mono
            hint="Tokens are requested there with the grant client_credentials."
          />
          <TextField {...inputOf(form, "clientId", "Client id")} mono autoComplete="off" />
          <TextField {...inputOf(form, "clientSecret", "Client secret")} {...secret} />
          <TextField {...inputOf(form, "scope", "Scopes")} mono hint="Separated by spaces. They may be empty." />
          <TextField {...inputOf(form, "audience", "Audience")} mono hint="It may be empty." />
        </>
      );
  }
}
