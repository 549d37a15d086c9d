import { Button } from "../buttons/button.tsx";

/** Takes every filter of a list away; to be shown while there is one. */
export function ClearFilters({ onPress }: { onPress: () => void }) {
  return (
    <Button kind="quiet" icon="cross" onPress={onPress}>
      Clear filters
    </Button>
  );
}
