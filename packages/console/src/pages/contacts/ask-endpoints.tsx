import { JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { useRows } from "../../calls/rows.ts";
import { useWrite } from "../../calls/write.ts";
import { Button } from "../../ui/buttons/button.tsx";
import { ConfirmButton } from "../../ui/buttons/confirm-button.tsx";
import { TextField } from "../../ui/fields/field.tsx";
import { Section } from "../../ui/layout/section.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { Empty } from "../../ui/notice/empty.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { Notice } from "../../ui/notice/notice.tsx";
import { ListStates } from "../../ui/rows/list-states.tsx";
import { Copyable } from "../../ui/values/copy.tsx";
import { Time } from "../../ui/values/time.tsx";

/** Draws the endpoints that receive every question of the project. `why`: the reason why the user's key may not see them. */
export function AskEndpoints({ why }: { why: string | undefined }) {
  const list = useRows(JobsService.method.listAskEndpoints, { pageSize: 100 }, ({ askEndpoints }) => askEndpoints, {
    enabled: why === undefined,
  });
  const [endpointUrl, setEndpointUrl] = useState("");
  const create = useWrite(JobsService.method.createAskEndpoint, {
    onSuccess: () => {
      setEndpointUrl("");
      list.reload();
    },
  });
  const remove = useWrite(JobsService.method.deleteAskEndpoint, { onSuccess: list.reload });
  if (why !== undefined) return <Notice tone="plain" icon="lock" title={why} />;
  const secret = create.answer?.signingSecret;
  return (
    <Stack>
      <Section title="New ask endpoint" boxed>
        <TextField
          label="URL"
          type="url"
          value={endpointUrl}
          onChange={setEndpointUrl}
          hint="svc posts each question here, signed, and again if it asks the next contact. The URL must use https, except on the own machine."
        />
        <Line>
          <Button
            kind="primary"
            why={endpointUrl === "" ? "Give its URL first" : undefined}
            busy={create.isSending ? "Registering" : undefined}
            onPress={() => create.send({ endpointUrl })}
          >
            Register
          </Button>
        </Line>
        <FaultNotice error={create.error} />
        {secret !== undefined && (
          <Notice tone="warn" icon="key" title="Its signing secret, shown once">
            <Copyable text={secret} what="secret" />
          </Notice>
        )}
      </Section>
      <ListStates
        list={list}
        empty={
          <Empty icon="send" title="No ask endpoints yet">
            <p>
              An ask endpoint is an address of yours that hears of every question, also where no contact is reached.
            </p>
          </Empty>
        }
      >
        <Stack>
          {list.rows.map(({ id, endpointUrl: url, active, inactiveReason, createdAt }) => (
            <Section
              key={id}
              title={url}
              boxed
              actions={
                <ConfirmButton
                  words="Delete"
                  title={`Delete the ask endpoint ${url}?`}
                  says="It hears of no further question, and what waits to be posted there ends as a dead letter. The questions stay answerable."
                  confirm="Delete the endpoint"
                  busy="Deleting"
                  act={() => remove.sendAsync({ id })}
                />
              }
            >
              <Line>
                <Copyable text={id} what="id" />
                <span>{active ? "active" : `inactive: ${inactiveReason}`}</span>
                <span>
                  since <Time at={createdAt} />
                </span>
              </Line>
            </Section>
          ))}
        </Stack>
      </ListStates>
    </Stack>
  );
}
