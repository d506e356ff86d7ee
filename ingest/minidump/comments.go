package minidump

// Comments are what the writer of the dump wrote into it, mostly why: procdump, adplus and DebugDiag do.
func (d *Dump) Comments() []string { return d.comments }

// readComments reads the streams CommentA, of bytes, and CommentW, of UTF-16. They are short, and Open reads them, so
// that what is wrong with them is said with the rest.
func (d *Dump) readComments() []*Problem {
	var damage []*Problem
	for _, s := range d.streams {
		if s.Type != StreamCommentA && s.Type != StreamCommentW {
			continue
		}
		p := &problems{stream: s.Type}
		if text := d.comment(s, p); text != "" {
			d.comments = append(d.comments, text)
		}
		damage = append(damage, p.list...)
		if len(d.comments) == maxComments {
			break
		}
	}
	return damage
}

func (d *Dump) comment(s Stream, p *problems) string {
	size := d.src.room(s.Offset, s.Size)
	if size < s.Size {
		p.add(CodeTruncated, -1, s.Offset, 1, "a comment is cut short by the end of the file")
	}
	if size > maxComment {
		p.add(CodeTooMany, -1, s.Offset, size-maxComment, "a comment has %d bytes; %d are read", size, maxComment)
		size = maxComment
	}
	b := make([]byte, size)
	if err := d.src.read(b, s.Offset); err != nil && size > 0 {
		p.failed(s.Offset, err)
		return ""
	}
	if s.Type == StreamCommentW {
		return wide(b)
	}
	return narrow(b)
}
