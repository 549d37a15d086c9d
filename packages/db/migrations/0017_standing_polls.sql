CREATE TABLE "standing_polls" (
	"program_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"generation" integer NOT NULL,
	"identity" "bytea" NOT NULL,
	"state" "bytea" NOT NULL,
	"is_primed" boolean NOT NULL,
	"polls" bigint DEFAULT 0 NOT NULL,
	"seen" integer NOT NULL,
	"has_stale" boolean NOT NULL,
	"polled_at" timestamp (3) with time zone NOT NULL,
	"outcome" text NOT NULL,
	"code" text NOT NULL,
	"detail" text NOT NULL,
	"pages" integer NOT NULL,
	"rows" integer NOT NULL,
	"found" integer NOT NULL,
	"failures_in_row" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "standing_seen" (
	"program_id" uuid NOT NULL,
	"generation" integer NOT NULL,
	"digest" "bytea" NOT NULL,
	"content" "bytea" NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "standing_seen_key" PRIMARY KEY("program_id","generation","digest")
);
--> statement-breakpoint
ALTER TABLE "standing_runs" ADD COLUMN "row_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "standing_polls" ADD CONSTRAINT "standing_polls_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;