/* SPDX-License-Identifier: ISC */
#include "life.h"

/* clang-format off */
static const struct life_step table[S_COUNT][E_COUNT] = {
/*    state                 E_OK                                E_FAIL                              E_UNSURE */
[S_NEW]             = {{A_SET_UP, S_SETTING_UP},           {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_SETTING_UP]      = {{A_READ_TURN, S_READING},           {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_READING]         = {{A_DECIDE, S_DECIDING},             {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_DECIDING]        = {{A_GATE, S_GATING},                 {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_GATING]          = {{A_REAP, S_REAPING},                {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_REAPING]         = {{A_LOCK, S_LOCKING},                {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_LOCKING]         = {{A_CLAIM, S_CLAIMING},              {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_CLAIMING]        = {{A_GUARD, S_GUARDING},              {A_REMOVE, S_DOOMED_LOCKED},        {A_REMOVE, S_DOOMED_LOCKED}},
[S_GUARDING]        = {{A_CREATE, S_CREATING},             {A_REMOVE, S_DOOMED_LOCKED},        {A_REMOVE, S_DOOMED_LOCKED}},
[S_CREATING]        = {{A_CHECK, S_CHECKING},              {A_REMOVE, S_DOOMED_LOCKED},        {A_SETTLE, S_DOOMED_LOCKED}},
[S_CHECKING]        = {{A_UNLOCK, S_UNLOCKING},            {A_REMOVE, S_DOOMED_LOCKED},        {A_REMOVE, S_DOOMED_LOCKED}},
[S_UNLOCKING]       = {{A_START, S_STARTING},              {A_REMOVE, S_DOOMED},               {A_REMOVE, S_DOOMED}},
[S_STARTING]        = {{A_RESULT, S_JUDGING},              {A_REMOVE, S_DOOMED},               {A_REMOVE, S_DOOMED}},
[S_JUDGING]         = {{A_REMOVE, S_REMOVING},             {A_REMOVE, S_DOOMED},               {A_REMOVE, S_DOOMED}},
[S_REMOVING]        = {{A_DROP_CLAIM, S_DROPPING},         {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_DROPPING]        = {{A_RELEASE, S_RELEASING},           {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_RELEASING]       = {{A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_DOOMED_LOCKED]   = {{A_DROP_CLAIM, S_DROPPING_LOCKED},  {A_UNLOCK, S_UNLOCKING_LAST},       {A_UNLOCK, S_UNLOCKING_LAST}},
[S_DROPPING_LOCKED] = {{A_UNLOCK, S_UNLOCKING_LAST},       {A_UNLOCK, S_UNLOCKING_LAST},       {A_UNLOCK, S_UNLOCKING_LAST}},
[S_UNLOCKING_LAST]  = {{A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_DOOMED]          = {{A_DROP_CLAIM, S_DROPPING_LAST},    {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_DROPPING_LAST]   = {{A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING},            {A_REPORT, S_REPORTING}},
[S_REPORTING]       = {{A_END, S_ENDED},                   {A_END, S_ENDED},                   {A_END, S_ENDED}},
[S_ENDED]           = {{A_END, S_ENDED},                   {A_END, S_ENDED},                   {A_END, S_ENDED}},
};
/* clang-format on */

struct life_step life_next(enum life_state state, enum life_event event)
{
	static const struct life_step given_up = {A_SETTLE, S_DOOMED_LOCKED};

	if ((unsigned)state >= S_COUNT || (unsigned)event >= E_COUNT)
		return given_up;
	return table[state][event];
}
