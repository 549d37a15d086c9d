import {
  CatalogService,
  type ImportToolkitResponse,
  type Toolkit,
  type ToolkitBinding,
  type ToolkitConnectSpec,
} from "@svc/gen/catalog";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { placeFailure } from "../../calls/fault.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { FormFrame } from "../../ui/fields/form-frame.tsx";
import { SelectField } from "../../ui/fields/select-field.tsx";
import { RealmSection } from "../../ui/layout/realm-section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Facts } from "../../ui/values/facts.tsx";
import { State } from "../../ui/values/state.tsx";
import { schemeWords } from "../../words/accounts.ts";
import { accessClasses, classCountWord } from "../../words/calls.ts";
import { answersOf, bindingOf, fieldOfAnswer, missingAnswers, questionsFor, questionWords } from "./binding-answers.ts";
import { PublishButton } from "./publish-button.tsx";

/**
 * Draws the questions of a shared toolkit (svc's definition of a kind of app) about the real app of a project. First the service only checks
 * the answers, and the form shows what they lead to. Then the user publishes them. `stored`: the answers that the project has now.
 */
export function BindingForm({
  spec,
  stored,
  onPublished,
}: {
  spec: ToolkitConnectSpec;
  stored: ToolkitBinding | undefined;
  onPublished: (toolkit: Toolkit, scheme: string) => void;
}) {
  const queries = useQueryClient();
  const [answers, setAnswers] = useState(stored === undefined ? {} : answersOf(stored));
  const [scheme, setScheme] = useState(() => usualScheme(spec, stored));
  const [isMarked, setMarked] = useState(false);
  const look = useWrite(CatalogService.method.importToolkit);
  const publish = useWrite(CatalogService.method.importToolkit, {
    onSuccess: async ({ toolkit }) => {
      await queries.invalidateQueries();
      if (toolkit !== undefined) onPublished(toolkit, scheme);
    },
  });
  const slug = spec.toolkitSlug;
  const questions = questionsFor(spec.binding, scheme);
  const missing = missingAnswers(questions, answers);
  const isOpen = missing.length > 0 || (scheme === "" && spec.authSchemes.length > 0);
  const binding = bindingOf(questions, answers, stored?.overlayJson ?? "");
  const request = { shared: { slug, binding }, replace: stored !== undefined };
  const change = (set: () => void) => {
    set();
    // What was found before is not about the changed answers.
    look.reset();
    publish.reset();
  };
  const { at, rest } = placeFailure(
    look.error,
    questions.map(({ path }) => fieldOfAnswer(path)),
  );
  const faultOf = (path: string) =>
    at[fieldOfAnswer(path)] ?? (isMarked && missing.includes(path) ? "Calls fail without this answer." : undefined);
  return (
    <Stack>
      <FormFrame
        onSubmit={() => {
          setMarked(true);
          if (!isOpen) look.send({ ...request, dryRun: true });
        }}
      >
        <p>Answer what svc cannot know about your app. You publish the answers later, for this project alone.</p>
        {spec.authSchemes.length > 1 && (
          <SelectField
            label="Accounts sign in by"
            value={scheme}
            isRequired
            hint="Choose what your app supports. The questions depend on it."
            fault={isMarked && scheme === "" ? "Choose how accounts sign in." : undefined}
            options={[
              { value: "", words: "choose" },
              ...spec.authSchemes.map(({ type }) => ({ value: type, words: schemeWords(type) })),
            ]}
            onChange={(value) => change(() => setScheme(value))}
          />
        )}
        {questions.map((question) => (
          <TextField
            key={question.path}
            {...questionWords(question)}
            value={answers[question.path] ?? ""}
            onChange={(answer) => change(() => setAnswers({ ...answers, [question.path]: answer }))}
            fault={faultOf(question.path)}
            isRequired={question.needed}
            autoComplete="off"
            mono
          />
        ))}
        <FaultNotice error={rest} />
        <Line>
          <Button
            kind={look.answer === undefined ? "primary" : "plain"}
            icon="search"
            type="submit"
            busy={look.isSending ? "Checking" : undefined}
          >
            Check the answers
          </Button>
        </Line>
      </FormFrame>
      {look.answer !== undefined && (
        <Outcome found={look.answer} isNew={stored === undefined}>
          <PublishButton publish={publish} why={undefined} onPress={() => publish.send(request)} />
        </Outcome>
      )}
    </Stack>
  );
}

/** Returns the scheme with which the form starts: the only one that the stored answers or the toolkit leave, else none. */
function usualScheme({ authSchemes }: ToolkitConnectSpec, stored: ToolkitBinding | undefined): string {
  const types = authSchemes.map(({ type }) => type);
  if (stored?.authorizeUrl !== undefined && stored.authorizeUrl !== "") return "oauth2";
  const left = stored === undefined ? types : types.filter((type) => type !== "oauth2");
  return left.length === 1 ? (left[0] ?? "") : "";
}

/** Draws what the checked answers lead to: where calls go, which tools there are, and what changes for the project. */
function Outcome({
  found: { toolkit, report },
  isNew,
  children,
}: {
  found: ImportToolkitResponse;
  isNew: boolean;
  children: ReactNode;
}) {
  if (toolkit === undefined || report === undefined) return null;
  const { baseUrl, readTools, writeTools, destructiveTools } = report;
  const counts = { read: readTools, write: writeTools, destructive: destructiveTools };
  return (
    <RealmSection title="What happens if you publish" isSandbox={!toolkit.live}>
      <Stack>
        <Facts
          facts={[
            ["Calls and credentials go to", baseUrl],
            ["Signs in with", toolkit.authSchemes.map(schemeWords).join(", ")],
            [
              "Tools",
              <Line key="tools">
                {accessClasses.map((access) => (
                  <State key={access} word={classCountWord(access, counts[access])} />
                ))}
              </Line>,
            ],
          ]}
        />
        <ul>
          <li>
            {toolkit.live
              ? `Programs, schedules, keys and agents that use ${toolkit.slug} continue, with the real app.`
              : "The sandbox still answers, because this deployment calls no real app at all."}
          </li>
          <li>
            {isNew
              ? "You connect an account next. Accounts of the sandbox do not count for the real app."
              : "Accounts stay connected, except if the address or the way to sign in has changed."}
          </li>
          <li>The app sends no events to the project, because a copy for one project has no triggers.</li>
          <li>You can go back to the shared app at any time.</li>
        </ul>
        {children}
      </Stack>
    </RealmSection>
  );
}
