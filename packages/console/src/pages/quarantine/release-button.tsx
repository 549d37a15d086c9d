import { useState } from "react";
import { Button } from "../../ui/buttons/button.tsx";
import type { ReleasedPosts } from "./release.ts";
import { ReleaseDialog } from "./release-dialog.tsx";

/** Opens the release of posts: what would become of them first. `why` disables it and says why. */
export function ReleaseButton({
  words,
  filter,
  why,
}: {
  words: string;
  filter: ReleasedPosts;
  why?: string | undefined;
}) {
  const [opened, setOpened] = useState<ReleasedPosts>();
  return (
    <>
      <Button icon="replay" why={why} onPress={() => setOpened(filter)}>
        {words}
      </Button>
      {opened !== undefined && <ReleaseDialog filter={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
