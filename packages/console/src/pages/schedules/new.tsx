import { useQuery } from "@connectrpc/connect-query";
import { JobsService } from "@svc/gen/jobs";
import { StandingService } from "@svc/gen/standing";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { placeFailure } from "../../calls/fault.ts";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { usePreferences } from "../../shell/preferences.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { Choice } from "../../ui/fields/choice.tsx";
import { CheckField, TextField } from "../../ui/fields/field.tsx";
import { Page } from "../../ui/layout/page.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { Skeleton } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { zoneName } from "../../words/time.ts";
import { exampleProgram } from "../programs/example.ts";
import { skeletonInput } from "../skills/skeleton-input.ts";
import { programOfSkill } from "./definition-text.ts";
import { newDraft } from "./draft.ts";
import { ScheduleEditor } from "./schedule-editor.tsx";

const route = getRouteApi("/p/$projectId/schedules/new");

/** Draws the page that makes a schedule. It runs a program that the user writes on the page, or a skill. */
export default function NewSchedulePage() {
  const { projectId } = route.useParams();
  const { skill } = route.useSearch();
  const navigate = route.useNavigate();
  const skills = useRows(JobsService.method.listSkills, { pageSize: 100 }, (answer) => answer.skills);
  return (
    <Page
      title="New schedule"
      back={
        <Link to="/p/$projectId/schedules" params={{ projectId }}>
          Schedules
        </Link>
      }
      filters={
        <Choice
          label="Program"
          value={skill ?? ""}
          options={[
            { value: "", words: "written here" },
            ...skills.rows.map(({ slug, toolSlug }) => ({ value: slug, words: `runs ${toolSlug}` })),
          ]}
          onChange={(slug) => void navigate({ search: { skill: slug || undefined }, replace: true })}
        />
      }
    >
      {skill === undefined ? (
        <NewSchedule projectId={projectId} programText={exampleProgram} />
      ) : (
        <OfSkill key={skill} slug={skill} projectId={projectId} />
      )}
    </Page>
  );
}

/** Draws the form of a new schedule that runs a skill. The schedule always uses the version that is the newest when it is created. */
function OfSkill({ slug, projectId }: { slug: string; projectId: string }) {
  const found = useQuery(JobsService.method.getSkill, { slug });
  const skill = found.data?.skill;
  return (
    <>
      <FaultNotice error={found.error} onRetry={() => void found.refetch()} />
      {found.isPending && <Skeleton />}
      {skill !== undefined && (
        <NewSchedule
          projectId={projectId}
          programText={programOfSkill(skill.toolSlug, skeletonInput(skill.inputSchemaJson))}
        />
      )}
    </>
  );
}

function NewSchedule({ projectId, programText }: { projectId: string; programText: string }) {
  const { zone } = usePreferences();
  const navigate = route.useNavigate();
  const [slug, setSlug] = useState("");
  const [simulate, setSimulate] = useState(false);
  const [paused, setPaused] = useState(false);
  const create = useWrite(StandingService.method.createStandingProgram, {
    onSuccess: ({ standingProgram }) => {
      announce("The schedule is created.");
      const scheduleId = standingProgram?.id ?? "";
      void navigate({ to: "/p/$projectId/schedules/$scheduleId", params: { projectId, scheduleId } });
    },
  });
  const { at, rest } = placeFailure(create.error, ["slug"]);
  return (
    <ScheduleEditor
      begun={{ draft: newDraft(zoneName(zone)), programText, kept: {} }}
      naming={
        <TextField
          label="Name"
          mono
          isRequired
          autoComplete="off"
          value={slug}
          onChange={setSlug}
          fault={at.slug}
          hint="Used in URLs and commands. Lower-case letters, digits, - and _."
        />
      }
    >
      {({ definitionJson, why, needsApproval }) => (
        <Stack>
          <Line>
            <Button
              kind="primary"
              icon="schedule"
              why={why}
              busy={create.isSending ? "Sending" : undefined}
              onPress={() =>
                create.send({ slug: slug.trim(), definitionJson, paused, simulate: needsApproval && simulate })
              }
            >
              Create the schedule
            </Button>
          </Line>
          <CheckField
            label="Create paused"
            checked={paused}
            onChange={setPaused}
            hint="The schedule starts no run until you resume it on its page."
          />
          {needsApproval && (
            <CheckField
              label="Dry run before the approval"
              checked={simulate}
              onChange={setSimulate}
              hint="svc first runs the program without writes. The approver sees the result."
            />
          )}
          <FaultNotice error={rest} />
        </Stack>
      )}
    </ScheduleEditor>
  );
}
