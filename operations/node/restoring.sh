# shellcheck shell=sh
# shellcheck disable=SC2034 # config_file.sh puts it into the record
# What is written is the file from before: there is nothing to restore behind it.
what=restore
